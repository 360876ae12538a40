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
    `BSRAM_CONTENT

    initial begin
        if ((BIT_WIDTH_0 != 9 && BIT_WIDTH_0 != 18) || BIT_WIDTH_0 != BIT_WIDTH_1
            || READ_MODE0 != 0 || READ_MODE1 != 0 || BLK_SEL_0 != 0 || BLK_SEL_1 != 0) begin
            $display("%m: a mode of a DPX9B that is not modelled");
            $stop;
        end
    end

    localparam [17:0] GARBAGE = 18'h15a5a;
    wire collision;
    wire [35:0] word_a, word_b;
    reg [17:0] read_a = 0;
    reg [17:0] read_b = 0;
    BSRAM #(.WIDTH(BIT_WIDTH_0), .INITIAL(INITIAL)) memory (
        .clk(CLKA), .write(CEA & WREA), .address_a(ADA), .address_b(ADB), .data({18'h0, DIA}),
        .word_a(word_a), .word_b(word_b), .collision(collision)
    );
    always @(posedge CLKA) if (CEA) read_a <= WREA ? GARBAGE ^ DIA : word_a[17:0];
    always @(posedge CLKB) if (CEB) read_b <= collision ? GARBAGE ^ DIA : word_b[17:0];
    assign DOA = read_a;
    assign DOB = read_b;

    always @* begin
        if ((WREB | RESETA | RESETB | (|BLKSELA) | (|BLKSELB)) === 1'b1) begin
            $display("%m: a write by port B, a reset or a block select, which is not modelled");
            $stop;
        end
    end
endmodule
