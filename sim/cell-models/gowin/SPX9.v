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
    `BSRAM_CONTENT

    initial begin
        if ((BIT_WIDTH != 9 && BIT_WIDTH != 18 && BIT_WIDTH != 36) || READ_MODE != 0
            || WRITE_MODE > 2 || BLK_SEL != 0) begin
            $display("%m: a mode of an SPX9 that is not modelled");
            $stop;
        end
    end

    wire [35:0] read;
    reg [35:0] word = 0;
    BSRAM #(.WIDTH(BIT_WIDTH), .INITIAL(INITIAL)) memory (
        .clk(CLK), .write(CE & WRE), .address_a(AD), .address_b(AD), .data(DI),
        .word_a(read), .word_b(), .collision()
    );
    always @(posedge CLK) begin
        if (CE & (~WRE | WRITE_MODE == 2)) word <= read;
        else if (CE & WRITE_MODE == 1) word <= DI;
    end
    assign DO = word;

    always @* begin
        if ((RESET | (|BLKSEL)) === 1'b1) begin
            $display("%m: a reset or a block select of an SPX9, which is not modelled");
            $stop;
        end
    end
endmodule
