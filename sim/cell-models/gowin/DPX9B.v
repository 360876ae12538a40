// SPDX-License-Identifier: Apache-2.0
// Simulates a Gowin DPX9B, 18 kbit of block RAM with two ports, in Verilog-2001.
//
// Modelled: words of 9 or 18 bits, equally wide at both ports, without output registers; port A
// writes or reads, and port B reads. Of 18 bits the lowest bits of ADA enable bytes. A word that is
// read by port B in the clock in which port A writes it is neither the old nor the new one, and so
// is what port A reads while it writes.
//
// Not modelled: other widths, writes by port B, output registers, resets, block selects. Any of them
// stops the simulation.
// Source: Gowin UG285, Gowin BSRAM & SSRAM User Guide.

module DPX9B (
    input CLKA, CEA, CLKB, CEB, OCEA, OCEB, RESETA, RESETB, WREA, WREB,
    input [13:0] ADA, ADB,
    input [17:0] DIA, DIB,
    input [2:0] BLKSELA, BLKSELB,
    output [17:0] DOA, DOB
);
    parameter READ_MODE0 = 1'b0;
    parameter READ_MODE1 = 1'b0;
    parameter WRITE_MODE0 = 2'b00;
    parameter WRITE_MODE1 = 2'b00;
    parameter BIT_WIDTH_0 = 18;
    parameter BIT_WIDTH_1 = 18;
    parameter BLK_SEL_0 = 3'b000;
    parameter BLK_SEL_1 = 3'b000;
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

    localparam BYTES = BIT_WIDTH_0 / 9;
    initial begin
        if ((BIT_WIDTH_0 != 9 && BIT_WIDTH_0 != 18) || BIT_WIDTH_0 != BIT_WIDTH_1
            || READ_MODE0 != 0 || READ_MODE1 != 0 || BLK_SEL_0 != 0 || BLK_SEL_1 != 0) begin
            $display("%m: a mode of a DPX9B that is not modelled");
            $stop;
        end
    end

    wire [10:0] word_a = ADA[13:3] & ~(BYTES - 11'd1);
    wire [10:0] word_b = ADB[13:3] & ~(BYTES - 11'd1);
    wire write = CEA & WREA;
    wire [1:0] enables = BYTES == 2 ? ADA[1:0] : 2'b01;
    always @(posedge CLKA) begin
        if (write) begin
            if (enables[0]) memory[word_a] <= DIA[8:0];
            if (enables[1]) memory[word_a + 1] <= DIA[17:9];
        end
    end

    localparam [17:0] GARBAGE = 18'h15a5a;
    wire collision = write & (|enables) & word_a == word_b;
    reg [17:0] read_a = 0;
    reg [17:0] read_b = 0;
    always @(posedge CLKA) begin
        if (CEA) read_a <= WREA ? GARBAGE ^ DIA : {memory[word_a | 11'd1], memory[word_a]};
    end
    always @(posedge CLKB) begin
        if (CEB) read_b <= collision ? GARBAGE ^ DIA : {memory[word_b | 11'd1], memory[word_b]};
    end
    assign DOA = read_a;
    assign DOB = read_b;

    always @* begin
        if ((WREB | RESETA | RESETB | (|BLKSELA) | (|BLKSELB)) === 1'b1) begin
            $display("%m: a write by port B, a reset or a block select, which is not modelled");
            $stop;
        end
    end
endmodule
