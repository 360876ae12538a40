// SPDX-License-Identifier: Apache-2.0
// Simulates a Gowin SPX9, 18 kbit of block RAM with one port, in Verilog-2001.
//
// Modelled: words of 9, 18 or 36 bits, without an output register. Of 18 bits and more the lowest
// bits of AD enable bytes to write. What is read while it is written is the word before in
// WRITE_MODE 2, the word itself in 1, and what was read before in 0.
//
// Not modelled: other widths, an output register, resets, block selects. Any of them stops the
// simulation.
// Source: Gowin UG285, Gowin BSRAM & SSRAM User Guide.

module SPX9 (
    input CLK, CE, OCE, RESET, WRE,
    input [13:0] AD,
    input [2:0] BLKSEL,
    input [35:0] DI,
    output [35:0] DO
);
    parameter READ_MODE = 1'b0;
    parameter WRITE_MODE = 2'b00;
    parameter BIT_WIDTH = 36;
    parameter BLK_SEL = 3'b000;
    parameter RESET_MODE = "SYNC";
    parameter [287:0] INIT_RAM_00 = 288'h0;
    parameter [287:0] INIT_RAM_01 = 288'h0;
    parameter [287:0] INIT_RAM_02 = 288'h0;
    parameter [287:0] INIT_RAM_03 = 288'h0;
    parameter [287:0] INIT_RAM_04 = 288'h0;
    parameter [287:0] INIT_RAM_05 = 288'h0;
    parameter [287:0] INIT_RAM_06 = 288'h0;
    parameter [287:0] INIT_RAM_07 = 288'h0;
    parameter [287:0] INIT_RAM_08 = 288'h0;
    parameter [287:0] INIT_RAM_09 = 288'h0;
    parameter [287:0] INIT_RAM_0A = 288'h0;
    parameter [287:0] INIT_RAM_0B = 288'h0;
    parameter [287:0] INIT_RAM_0C = 288'h0;
    parameter [287:0] INIT_RAM_0D = 288'h0;
    parameter [287:0] INIT_RAM_0E = 288'h0;
    parameter [287:0] INIT_RAM_0F = 288'h0;
    parameter [287:0] INIT_RAM_10 = 288'h0;
    parameter [287:0] INIT_RAM_11 = 288'h0;
    parameter [287:0] INIT_RAM_12 = 288'h0;
    parameter [287:0] INIT_RAM_13 = 288'h0;
    parameter [287:0] INIT_RAM_14 = 288'h0;
    parameter [287:0] INIT_RAM_15 = 288'h0;
    parameter [287:0] INIT_RAM_16 = 288'h0;
    parameter [287:0] INIT_RAM_17 = 288'h0;
    parameter [287:0] INIT_RAM_18 = 288'h0;
    parameter [287:0] INIT_RAM_19 = 288'h0;
    parameter [287:0] INIT_RAM_1A = 288'h0;
    parameter [287:0] INIT_RAM_1B = 288'h0;
    parameter [287:0] INIT_RAM_1C = 288'h0;
    parameter [287:0] INIT_RAM_1D = 288'h0;
    parameter [287:0] INIT_RAM_1E = 288'h0;
    parameter [287:0] INIT_RAM_1F = 288'h0;
    parameter [287:0] INIT_RAM_20 = 288'h0;
    parameter [287:0] INIT_RAM_21 = 288'h0;
    parameter [287:0] INIT_RAM_22 = 288'h0;
    parameter [287:0] INIT_RAM_23 = 288'h0;
    parameter [287:0] INIT_RAM_24 = 288'h0;
    parameter [287:0] INIT_RAM_25 = 288'h0;
    parameter [287:0] INIT_RAM_26 = 288'h0;
    parameter [287:0] INIT_RAM_27 = 288'h0;
    parameter [287:0] INIT_RAM_28 = 288'h0;
    parameter [287:0] INIT_RAM_29 = 288'h0;
    parameter [287:0] INIT_RAM_2A = 288'h0;
    parameter [287:0] INIT_RAM_2B = 288'h0;
    parameter [287:0] INIT_RAM_2C = 288'h0;
    parameter [287:0] INIT_RAM_2D = 288'h0;
    parameter [287:0] INIT_RAM_2E = 288'h0;
    parameter [287:0] INIT_RAM_2F = 288'h0;
    parameter [287:0] INIT_RAM_30 = 288'h0;
    parameter [287:0] INIT_RAM_31 = 288'h0;
    parameter [287:0] INIT_RAM_32 = 288'h0;
    parameter [287:0] INIT_RAM_33 = 288'h0;
    parameter [287:0] INIT_RAM_34 = 288'h0;
    parameter [287:0] INIT_RAM_35 = 288'h0;
    parameter [287:0] INIT_RAM_36 = 288'h0;
    parameter [287:0] INIT_RAM_37 = 288'h0;
    parameter [287:0] INIT_RAM_38 = 288'h0;
    parameter [287:0] INIT_RAM_39 = 288'h0;
    parameter [287:0] INIT_RAM_3A = 288'h0;
    parameter [287:0] INIT_RAM_3B = 288'h0;
    parameter [287:0] INIT_RAM_3C = 288'h0;
    parameter [287:0] INIT_RAM_3D = 288'h0;
    parameter [287:0] INIT_RAM_3E = 288'h0;
    parameter [287:0] INIT_RAM_3F = 288'h0;

    localparam [18431:0] INITIAL = {INIT_RAM_3F, INIT_RAM_3E, INIT_RAM_3D, INIT_RAM_3C, INIT_RAM_3B, INIT_RAM_3A,
      INIT_RAM_39, INIT_RAM_38, INIT_RAM_37, INIT_RAM_36, INIT_RAM_35, INIT_RAM_34,
      INIT_RAM_33, INIT_RAM_32, INIT_RAM_31, INIT_RAM_30, INIT_RAM_2F, INIT_RAM_2E,
      INIT_RAM_2D, INIT_RAM_2C, INIT_RAM_2B, INIT_RAM_2A, INIT_RAM_29, INIT_RAM_28,
      INIT_RAM_27, INIT_RAM_26, INIT_RAM_25, INIT_RAM_24, INIT_RAM_23, INIT_RAM_22,
      INIT_RAM_21, INIT_RAM_20, INIT_RAM_1F, INIT_RAM_1E, INIT_RAM_1D, INIT_RAM_1C,
      INIT_RAM_1B, INIT_RAM_1A, INIT_RAM_19, INIT_RAM_18, INIT_RAM_17, INIT_RAM_16,
      INIT_RAM_15, INIT_RAM_14, INIT_RAM_13, INIT_RAM_12, INIT_RAM_11, INIT_RAM_10,
      INIT_RAM_0F, INIT_RAM_0E, INIT_RAM_0D, INIT_RAM_0C, INIT_RAM_0B, INIT_RAM_0A,
      INIT_RAM_09, INIT_RAM_08, INIT_RAM_07, INIT_RAM_06, INIT_RAM_05, INIT_RAM_04,
      INIT_RAM_03, INIT_RAM_02, INIT_RAM_01, INIT_RAM_00};

    // Bytes of 9 bits; a word is as many of them as it is wide, from a multiple of that on.
    reg [8:0] memory [0:2047];
    integer place;
    initial for (place = 0; place < 2048; place = place + 1) memory[place] = INITIAL[9 * place +: 9];

    localparam BYTES = BIT_WIDTH / 9;
    initial begin
        if ((BIT_WIDTH != 9 && BIT_WIDTH != 18 && BIT_WIDTH != 36) || READ_MODE != 0
            || WRITE_MODE > 2 || BLK_SEL != 0) begin
            $display("%m: a mode of an SPX9 that is not modelled");
            $stop;
        end
    end

    wire [10:0] at = AD[13:3] & ~(BYTES - 11'd1);
    wire [3:0] enables = BYTES == 4 ? AD[3:0] : BYTES == 2 ? {2'b00, AD[1:0]} : 4'b0001;
    wire [35:0] read = {memory[at | 11'd3], memory[at | 11'd2], memory[at | 11'd1], memory[at]};
    reg [35:0] word = 0;
    always @(posedge CLK) begin
        if (CE) begin
            if (WRE & enables[0]) memory[at] <= DI[8:0];
            if (WRE & enables[1]) memory[at + 1] <= DI[17:9];
            if (WRE & enables[2]) memory[at + 2] <= DI[26:18];
            if (WRE & enables[3]) memory[at + 3] <= DI[35:27];
            if (~WRE | WRITE_MODE == 2) word <= read;
            else if (WRITE_MODE == 1) word <= DI;
        end
    end
    assign DO = word;

    always @* begin
        if ((RESET | (|BLKSEL)) === 1'b1) begin
            $display("%m: a reset or a block select of an SPX9, which is not modelled");
            $stop;
        end
    end
endmodule
