// SPDX-License-Identifier: Apache-2.0
// Simulates an ECP5 MULT18X18D with or without its input and output registers, in Verilog-2001.
//
// Modelled: signed and unsigned operands, registers of A, B and P on CLK0 with CE0 and a synchronous
// RST0. Not modelled: other clocks, the pipeline register, operand C, cascades. What would use them
// has ports that are not here, or stops the simulation.

module MULT18X18D (
    input A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17,
    input B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11, B12, B13, B14, B15, B16, B17,
    input C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13, C14, C15, C16, C17,
    input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
    input CLK0, CE0, RST0,
    output P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P14, P15, P16, P17, P18,
      P19, P20, P21, P22, P23, P24, P25, P26, P27, P28, P29, P30, P31, P32, P33, P34, P35,
    output SIGNEDP
);
    parameter REG_INPUTA_CLK = "NONE";
    parameter REG_INPUTA_CE = "CE0";
    parameter REG_INPUTA_RST = "RST0";
    parameter REG_INPUTB_CLK = "NONE";
    parameter REG_INPUTB_CE = "CE0";
    parameter REG_INPUTB_RST = "RST0";
    parameter REG_INPUTC_CLK = "NONE";
    parameter REG_INPUTC_CE = "CE0";
    parameter REG_INPUTC_RST = "RST0";
    parameter REG_PIPELINE_CLK = "NONE";
    parameter REG_PIPELINE_CE = "CE0";
    parameter REG_PIPELINE_RST = "RST0";
    parameter REG_OUTPUT_CLK = "NONE";
    parameter REG_OUTPUT_CE = "CE0";
    parameter REG_OUTPUT_RST = "RST0";
    parameter CLK0_DIV = "ENABLED";
    parameter CLK1_DIV = "ENABLED";
    parameter CLK2_DIV = "ENABLED";
    parameter CLK3_DIV = "ENABLED";
    parameter HIGHSPEED_CLK = "NONE";
    parameter GSR = "ENABLED";
    parameter CAS_MATCH_REG = "FALSE";
    parameter SOURCEB_MODE = "B_SHIFT";
    parameter MULT_BYPASS = "DISABLED";
    parameter RESETMODE = "SYNC";

    initial begin
        if ((REG_INPUTA_CLK != "NONE" && REG_INPUTA_CLK != "CLK0")
            || (REG_INPUTB_CLK != "NONE" && REG_INPUTB_CLK != "CLK0")
            || (REG_OUTPUT_CLK != "NONE" && REG_OUTPUT_CLK != "CLK0")
            || REG_INPUTA_CE != "CE0" || REG_INPUTB_CE != "CE0" || REG_OUTPUT_CE != "CE0"
            || REG_INPUTA_RST != "RST0" || REG_INPUTB_RST != "RST0" || REG_OUTPUT_RST != "RST0"
            || REG_INPUTC_CLK != "NONE" || REG_PIPELINE_CLK != "NONE" || CLK0_DIV != "ENABLED"
            || HIGHSPEED_CLK != "NONE" || CAS_MATCH_REG != "FALSE" || MULT_BYPASS != "DISABLED"
            || RESETMODE != "SYNC") begin
            $display("%m: a mode of a MULT18X18D that is not modelled");
            $stop;
        end
    end

    wire [17:0] a = {A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0};
    wire [17:0] b = {B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0};
    wire [17:0] c = {C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0};

    // Operands carry their sign as a bit more.
    wire signed [18:0] a_wide = {SIGNEDA & a[17], a};
    wire signed [18:0] b_wide = {SIGNEDB & b[17], b};
    reg signed [18:0] a_register = 0;
    reg signed [18:0] b_register = 0;
    reg [35:0] p_register = 0;
    wire signed [18:0] a_operand = REG_INPUTA_CLK == "CLK0" ? a_register : a_wide;
    wire signed [18:0] b_operand = REG_INPUTB_CLK == "CLK0" ? b_register : b_wide;
    wire signed [37:0] product = a_operand * b_operand;

    always @(posedge CLK0) begin
        if (RST0) begin
            a_register <= 0;
            b_register <= 0;
            p_register <= 0;
        end else if (CE0) begin
            a_register <= a_wide;
            b_register <= b_wide;
            p_register <= product[35:0];
        end
    end

    assign {P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19,
      P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0}
        = REG_OUTPUT_CLK == "CLK0" ? p_register : product[35:0];
    assign SIGNEDP = SIGNEDA | SIGNEDB;

    always @* begin
        if (SOURCEA === 1'b1 || SOURCEB === 1'b1 || (|c) === 1'b1) begin
            $display("%m: a cascade or an operand C, which is not modelled");
            $stop;
        end
    end
endmodule
