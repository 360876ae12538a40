// SPDX-License-Identifier: Apache-2.0
// What Gowin's block RAMs have in common, in Verilog-2001: their content, and 18 kbit of memory.
//
// The models of the blocks use both, and stand behind this file.
// Source: Gowin UG285, Gowin BSRAM & SSRAM User Guide.

// The parameters of a block's content, and what they say.
`define BSRAM_CONTENT \
    parameter [287:0] INIT_RAM_00 = 288'h0; \
    parameter [287:0] INIT_RAM_01 = 288'h0; \
    parameter [287:0] INIT_RAM_02 = 288'h0; \
    parameter [287:0] INIT_RAM_03 = 288'h0; \
    parameter [287:0] INIT_RAM_04 = 288'h0; \
    parameter [287:0] INIT_RAM_05 = 288'h0; \
    parameter [287:0] INIT_RAM_06 = 288'h0; \
    parameter [287:0] INIT_RAM_07 = 288'h0; \
    parameter [287:0] INIT_RAM_08 = 288'h0; \
    parameter [287:0] INIT_RAM_09 = 288'h0; \
    parameter [287:0] INIT_RAM_0A = 288'h0; \
    parameter [287:0] INIT_RAM_0B = 288'h0; \
    parameter [287:0] INIT_RAM_0C = 288'h0; \
    parameter [287:0] INIT_RAM_0D = 288'h0; \
    parameter [287:0] INIT_RAM_0E = 288'h0; \
    parameter [287:0] INIT_RAM_0F = 288'h0; \
    parameter [287:0] INIT_RAM_10 = 288'h0; \
    parameter [287:0] INIT_RAM_11 = 288'h0; \
    parameter [287:0] INIT_RAM_12 = 288'h0; \
    parameter [287:0] INIT_RAM_13 = 288'h0; \
    parameter [287:0] INIT_RAM_14 = 288'h0; \
    parameter [287:0] INIT_RAM_15 = 288'h0; \
    parameter [287:0] INIT_RAM_16 = 288'h0; \
    parameter [287:0] INIT_RAM_17 = 288'h0; \
    parameter [287:0] INIT_RAM_18 = 288'h0; \
    parameter [287:0] INIT_RAM_19 = 288'h0; \
    parameter [287:0] INIT_RAM_1A = 288'h0; \
    parameter [287:0] INIT_RAM_1B = 288'h0; \
    parameter [287:0] INIT_RAM_1C = 288'h0; \
    parameter [287:0] INIT_RAM_1D = 288'h0; \
    parameter [287:0] INIT_RAM_1E = 288'h0; \
    parameter [287:0] INIT_RAM_1F = 288'h0; \
    parameter [287:0] INIT_RAM_20 = 288'h0; \
    parameter [287:0] INIT_RAM_21 = 288'h0; \
    parameter [287:0] INIT_RAM_22 = 288'h0; \
    parameter [287:0] INIT_RAM_23 = 288'h0; \
    parameter [287:0] INIT_RAM_24 = 288'h0; \
    parameter [287:0] INIT_RAM_25 = 288'h0; \
    parameter [287:0] INIT_RAM_26 = 288'h0; \
    parameter [287:0] INIT_RAM_27 = 288'h0; \
    parameter [287:0] INIT_RAM_28 = 288'h0; \
    parameter [287:0] INIT_RAM_29 = 288'h0; \
    parameter [287:0] INIT_RAM_2A = 288'h0; \
    parameter [287:0] INIT_RAM_2B = 288'h0; \
    parameter [287:0] INIT_RAM_2C = 288'h0; \
    parameter [287:0] INIT_RAM_2D = 288'h0; \
    parameter [287:0] INIT_RAM_2E = 288'h0; \
    parameter [287:0] INIT_RAM_2F = 288'h0; \
    parameter [287:0] INIT_RAM_30 = 288'h0; \
    parameter [287:0] INIT_RAM_31 = 288'h0; \
    parameter [287:0] INIT_RAM_32 = 288'h0; \
    parameter [287:0] INIT_RAM_33 = 288'h0; \
    parameter [287:0] INIT_RAM_34 = 288'h0; \
    parameter [287:0] INIT_RAM_35 = 288'h0; \
    parameter [287:0] INIT_RAM_36 = 288'h0; \
    parameter [287:0] INIT_RAM_37 = 288'h0; \
    parameter [287:0] INIT_RAM_38 = 288'h0; \
    parameter [287:0] INIT_RAM_39 = 288'h0; \
    parameter [287:0] INIT_RAM_3A = 288'h0; \
    parameter [287:0] INIT_RAM_3B = 288'h0; \
    parameter [287:0] INIT_RAM_3C = 288'h0; \
    parameter [287:0] INIT_RAM_3D = 288'h0; \
    parameter [287:0] INIT_RAM_3E = 288'h0; \
    parameter [287:0] INIT_RAM_3F = 288'h0; \
    localparam [18431:0] INITIAL = { \
      INIT_RAM_3F, INIT_RAM_3E, INIT_RAM_3D, INIT_RAM_3C, INIT_RAM_3B, INIT_RAM_3A, \
      INIT_RAM_39, INIT_RAM_38, INIT_RAM_37, INIT_RAM_36, INIT_RAM_35, INIT_RAM_34, \
      INIT_RAM_33, INIT_RAM_32, INIT_RAM_31, INIT_RAM_30, INIT_RAM_2F, INIT_RAM_2E, \
      INIT_RAM_2D, INIT_RAM_2C, INIT_RAM_2B, INIT_RAM_2A, INIT_RAM_29, INIT_RAM_28, \
      INIT_RAM_27, INIT_RAM_26, INIT_RAM_25, INIT_RAM_24, INIT_RAM_23, INIT_RAM_22, \
      INIT_RAM_21, INIT_RAM_20, INIT_RAM_1F, INIT_RAM_1E, INIT_RAM_1D, INIT_RAM_1C, \
      INIT_RAM_1B, INIT_RAM_1A, INIT_RAM_19, INIT_RAM_18, INIT_RAM_17, INIT_RAM_16, \
      INIT_RAM_15, INIT_RAM_14, INIT_RAM_13, INIT_RAM_12, INIT_RAM_11, INIT_RAM_10, \
      INIT_RAM_0F, INIT_RAM_0E, INIT_RAM_0D, INIT_RAM_0C, INIT_RAM_0B, INIT_RAM_0A, \
      INIT_RAM_09, INIT_RAM_08, INIT_RAM_07, INIT_RAM_06, INIT_RAM_05, INIT_RAM_04, \
      INIT_RAM_03, INIT_RAM_02, INIT_RAM_01, INIT_RAM_00 \
    };

// Bytes of 9 bits; a word is WIDTH / 9 of them, from a multiple of that on. Side a writes, of words of
// 18 bits and more those bytes that the lowest bits of its address enable; both sides read at once
// what stood there. `collision` is that side a writes the word that side b reads.
module BSRAM (
    input clk, write,
    input [13:0] address_a, address_b,
    input [35:0] data,
    output [35:0] word_a, word_b,
    output collision
);
    parameter WIDTH = 36;
    parameter [18431:0] INITIAL = 18432'h0;

    reg [8:0] memory [0:2047];
    integer place;
    initial for (place = 0; place < 2048; place = place + 1) memory[place] = INITIAL[9 * place +: 9];

    localparam BYTES = WIDTH / 9;
    wire [10:0] at_a = address_a[13:3] & ~(BYTES - 11'd1);
    wire [10:0] at_b = address_b[13:3] & ~(BYTES - 11'd1);
    wire [3:0] enables = BYTES == 4 ? address_a[3:0] : BYTES == 2 ? {2'b00, address_a[1:0]} : 4'b0001;
    always @(posedge clk) begin
        if (write) begin
            if (enables[0]) memory[at_a] <= data[8:0];
            if (enables[1]) memory[at_a + 1] <= data[17:9];
            if (enables[2]) memory[at_a + 2] <= data[26:18];
            if (enables[3]) memory[at_a + 3] <= data[35:27];
        end
    end
    assign word_a = {memory[at_a | 11'd3], memory[at_a | 11'd2], memory[at_a | 11'd1], memory[at_a]};
    assign word_b = {memory[at_b | 11'd3], memory[at_b | 11'd2], memory[at_b | 11'd1], memory[at_b]};
    assign collision = write & (|enables) & at_a == at_b;
endmodule
