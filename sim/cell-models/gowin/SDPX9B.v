// SPDX-License-Identifier: Apache-2.0
// Simulates a Gowin SDPX9B, 18 kbit of block RAM with a port that writes and one that reads, in Verilog-2001.
//
// Modelled: words of 9, 18 or 36 bits, equally wide at both ports, without an output register. Of
// 18 bits and more the lowest bits of ADA enable bytes. A word that is read in the clock in which
// it is written is neither the old nor the new one: the silicon does not say.
//
// Not modelled: other widths, output registers, resets, block selects. Any of them stops the
// simulation.
// Source: Gowin UG285, Gowin BSRAM & SSRAM User Guide.

module SDPX9B (
    input CLKA, CEA, CLKB, CEB, OCE, RESETA, RESETB,
    input [13:0] ADA, ADB,
    input [2:0] BLKSELA, BLKSELB,
    input [35:0] DI,
    output [35:0] DO
);
    parameter READ_MODE = 1'b0;
    parameter BIT_WIDTH_0 = 36;
    parameter BIT_WIDTH_1 = 36;
    parameter BLK_SEL_0 = 3'b000;
    parameter BLK_SEL_1 = 3'b000;
    parameter RESET_MODE = "SYNC";
    `BSRAM_CONTENT

    initial begin
        if ((BIT_WIDTH_0 != 9 && BIT_WIDTH_0 != 18 && BIT_WIDTH_0 != 36)
            || BIT_WIDTH_0 != BIT_WIDTH_1 || READ_MODE != 0 || BLK_SEL_0 != 0 || BLK_SEL_1 != 0)
        begin
            $display("%m: a mode of an SDPX9B that is not modelled");
            $stop;
        end
    end

    wire collision;
    wire [35:0] read;
    reg [35:0] word = 0;
    BSRAM #(.WIDTH(BIT_WIDTH_0), .INITIAL(INITIAL)) memory (
        .clk(CLKA), .write(CEA), .address_a(ADA), .address_b(ADB), .data(DI),
        .word_a(), .word_b(read), .collision(collision)
    );
    always @(posedge CLKB) if (CEB) word <= collision ? 36'h9_5a5a_5a5a ^ DI : read;
    assign DO = word;

    always @* begin
        if ((RESETA | RESETB | (|BLKSELA) | (|BLKSELB)) === 1'b1) begin
            $display("%m: a reset or a block select of an SDPX9B, which is not modelled");
            $stop;
        end
    end
endmodule
