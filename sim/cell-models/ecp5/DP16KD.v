// SPDX-License-Identifier: Apache-2.0
// Simulates an ECP5 DP16KD, 16 kbit of block RAM in words of 18 or 36 bits, in Verilog-2001.
//
// Modelled: both ports equally wide, without or with output registers. Of 18 bits: port A writes
// bytes of 9 bits, and reads; port B reads. Of 36 bits: port A writes, its upper half from DIB;
// port B reads, its lower half at DOA. A word that port B reads in the clock in which port A writes
// it is neither the old nor the new one: the silicon does not say.
//
// Not modelled: writes by port B, resets, write mode WRITETHROUGH, inverted clocks, chip selects, an
// output register while its port's clock enable is off. Any of them stops the simulation.

module DP16KD (
    input DIA0, DIA1, DIA2, DIA3, DIA4, DIA5, DIA6, DIA7, DIA8, DIA9, DIA10, DIA11, DIA12,
      DIA13, DIA14, DIA15, DIA16, DIA17,
    input ADA0, ADA1, ADA2, ADA3, ADA4, ADA5, ADA6, ADA7, ADA8, ADA9, ADA10, ADA11, ADA12,
      ADA13,
    input CEA, OCEA, CLKA, WEA, RSTA, CSA0, CSA1, CSA2,
    input DIB0, DIB1, DIB2, DIB3, DIB4, DIB5, DIB6, DIB7, DIB8, DIB9, DIB10, DIB11, DIB12,
      DIB13, DIB14, DIB15, DIB16, DIB17,
    input ADB0, ADB1, ADB2, ADB3, ADB4, ADB5, ADB6, ADB7, ADB8, ADB9, ADB10, ADB11, ADB12,
      ADB13,
    input CEB, OCEB, CLKB, WEB, RSTB, CSB0, CSB1, CSB2,
    output DOA0, DOA1, DOA2, DOA3, DOA4, DOA5, DOA6, DOA7, DOA8, DOA9, DOA10, DOA11, DOA12,
      DOA13, DOA14, DOA15, DOA16, DOA17,
    output DOB0, DOB1, DOB2, DOB3, DOB4, DOB5, DOB6, DOB7, DOB8, DOB9, DOB10, DOB11, DOB12,
      DOB13, DOB14, DOB15, DOB16, DOB17
);
    parameter DATA_WIDTH_A = 18;
    parameter DATA_WIDTH_B = 18;
    parameter REGMODE_A = "NOREG";
    parameter REGMODE_B = "NOREG";
    parameter RESETMODE = "SYNC";
    parameter ASYNC_RESET_RELEASE = "SYNC";
    parameter CSDECODE_A = "0b000";
    parameter CSDECODE_B = "0b000";
    parameter WRITEMODE_A = "NORMAL";
    parameter WRITEMODE_B = "NORMAL";
    parameter CLKAMUX = "CLKA";
    parameter CLKBMUX = "CLKB";
    parameter GSR = "ENABLED";
    parameter INIT_DATA = "STATIC";
    parameter WID = 0;
    parameter [319:0] INITVAL_00 = 320'h0;
    parameter [319:0] INITVAL_01 = 320'h0;
    parameter [319:0] INITVAL_02 = 320'h0;
    parameter [319:0] INITVAL_03 = 320'h0;
    parameter [319:0] INITVAL_04 = 320'h0;
    parameter [319:0] INITVAL_05 = 320'h0;
    parameter [319:0] INITVAL_06 = 320'h0;
    parameter [319:0] INITVAL_07 = 320'h0;
    parameter [319:0] INITVAL_08 = 320'h0;
    parameter [319:0] INITVAL_09 = 320'h0;
    parameter [319:0] INITVAL_0A = 320'h0;
    parameter [319:0] INITVAL_0B = 320'h0;
    parameter [319:0] INITVAL_0C = 320'h0;
    parameter [319:0] INITVAL_0D = 320'h0;
    parameter [319:0] INITVAL_0E = 320'h0;
    parameter [319:0] INITVAL_0F = 320'h0;
    parameter [319:0] INITVAL_10 = 320'h0;
    parameter [319:0] INITVAL_11 = 320'h0;
    parameter [319:0] INITVAL_12 = 320'h0;
    parameter [319:0] INITVAL_13 = 320'h0;
    parameter [319:0] INITVAL_14 = 320'h0;
    parameter [319:0] INITVAL_15 = 320'h0;
    parameter [319:0] INITVAL_16 = 320'h0;
    parameter [319:0] INITVAL_17 = 320'h0;
    parameter [319:0] INITVAL_18 = 320'h0;
    parameter [319:0] INITVAL_19 = 320'h0;
    parameter [319:0] INITVAL_1A = 320'h0;
    parameter [319:0] INITVAL_1B = 320'h0;
    parameter [319:0] INITVAL_1C = 320'h0;
    parameter [319:0] INITVAL_1D = 320'h0;
    parameter [319:0] INITVAL_1E = 320'h0;
    parameter [319:0] INITVAL_1F = 320'h0;
    parameter [319:0] INITVAL_20 = 320'h0;
    parameter [319:0] INITVAL_21 = 320'h0;
    parameter [319:0] INITVAL_22 = 320'h0;
    parameter [319:0] INITVAL_23 = 320'h0;
    parameter [319:0] INITVAL_24 = 320'h0;
    parameter [319:0] INITVAL_25 = 320'h0;
    parameter [319:0] INITVAL_26 = 320'h0;
    parameter [319:0] INITVAL_27 = 320'h0;
    parameter [319:0] INITVAL_28 = 320'h0;
    parameter [319:0] INITVAL_29 = 320'h0;
    parameter [319:0] INITVAL_2A = 320'h0;
    parameter [319:0] INITVAL_2B = 320'h0;
    parameter [319:0] INITVAL_2C = 320'h0;
    parameter [319:0] INITVAL_2D = 320'h0;
    parameter [319:0] INITVAL_2E = 320'h0;
    parameter [319:0] INITVAL_2F = 320'h0;
    parameter [319:0] INITVAL_30 = 320'h0;
    parameter [319:0] INITVAL_31 = 320'h0;
    parameter [319:0] INITVAL_32 = 320'h0;
    parameter [319:0] INITVAL_33 = 320'h0;
    parameter [319:0] INITVAL_34 = 320'h0;
    parameter [319:0] INITVAL_35 = 320'h0;
    parameter [319:0] INITVAL_36 = 320'h0;
    parameter [319:0] INITVAL_37 = 320'h0;
    parameter [319:0] INITVAL_38 = 320'h0;
    parameter [319:0] INITVAL_39 = 320'h0;
    parameter [319:0] INITVAL_3A = 320'h0;
    parameter [319:0] INITVAL_3B = 320'h0;
    parameter [319:0] INITVAL_3C = 320'h0;
    parameter [319:0] INITVAL_3D = 320'h0;
    parameter [319:0] INITVAL_3E = 320'h0;
    parameter [319:0] INITVAL_3F = 320'h0;

    localparam WIDE = DATA_WIDTH_A == 36;
    localparam OLD = WRITEMODE_A == "READBEFOREWRITE";
    localparam REGISTERED_A = REGMODE_A == "OUTREG";
    localparam REGISTERED_B = REGMODE_B == "OUTREG";

    initial begin
        if ((DATA_WIDTH_A != 18 && DATA_WIDTH_A != 36) || DATA_WIDTH_A != DATA_WIDTH_B
            || (REGMODE_A != "NOREG" && REGMODE_A != "OUTREG")
            || (REGMODE_B != "NOREG" && REGMODE_B != "OUTREG") || (WIDE && REGMODE_A != REGMODE_B)
            || (WRITEMODE_A != "NORMAL" && WRITEMODE_A != "READBEFOREWRITE")
            || CSDECODE_A != "0b000" || CSDECODE_B != "0b000"
            || CLKAMUX != "CLKA" || CLKBMUX != "CLKB" || INIT_DATA != "STATIC") begin
            $display("%m: a mode of a DP16KD that is not modelled");
            $stop;
        end
    end

    localparam [20479:0] INITIAL = {INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B,
      INITVAL_3A, INITVAL_39, INITVAL_38, INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34,
      INITVAL_33, INITVAL_32, INITVAL_31, INITVAL_30, INITVAL_2F, INITVAL_2E, INITVAL_2D,
      INITVAL_2C, INITVAL_2B, INITVAL_2A, INITVAL_29, INITVAL_28, INITVAL_27, INITVAL_26,
      INITVAL_25, INITVAL_24, INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20, INITVAL_1F,
      INITVAL_1E, INITVAL_1D, INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18,
      INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11,
      INITVAL_10, INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A,
      INITVAL_09, INITVAL_08, INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03,
      INITVAL_02, INITVAL_01, INITVAL_00};

    // Words of 18 bits; one of 36 is two of them, the lower half at the even address.
    reg [17:0] memory [0:1023];
    integer word;
    initial for (word = 0; word < 1024; word = word + 1) memory[word] = INITIAL[20 * word +: 18];

    wire [17:0] data_a = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8,
      DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
    wire [17:0] data_b = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8,
      DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0};
    wire [13:0] address_a = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4,
      ADA3, ADA2, ADA1, ADA0};
    wire [13:0] address_b = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4,
      ADB3, ADB2, ADB1, ADB0};
    wire [9:0] word_a = WIDE ? {address_a[13:5], 1'b0} : address_a[13:4];
    wire [9:0] word_b = WIDE ? {address_b[13:5], 1'b0} : address_b[13:4];
    wire write = WEA & CEA;
    wire [3:0] enables = WIDE ? address_a[3:0] : {2'b00, address_a[1:0]};

    always @(posedge CLKA) begin
        if (write) begin
            if (enables[0]) memory[word_a][8:0] <= data_a[8:0];
            if (enables[1]) memory[word_a][17:9] <= data_a[17:9];
            if (enables[2]) memory[word_a | 10'd1][8:0] <= data_b[8:0];
            if (enables[3]) memory[word_a | 10'd1][17:9] <= data_b[17:9];
        end
    end

    wire collision = write & (|enables) & word_a == word_b;
    localparam [17:0] GARBAGE = 18'h15a5a;
    reg [17:0] read_a = 0;
    reg [17:0] read_b = 0;
    reg [17:0] low = 0;
    always @(posedge CLKA) if (CEA & (~WEA | OLD)) read_a <= memory[word_a];
    always @(posedge CLKB) begin
        if (CEB) begin
            low <= collision ? GARBAGE ^ data_a : memory[word_b];
            if (WIDE) read_b <= collision ? GARBAGE ^ data_b : memory[word_b | 10'd1];
            else read_b <= collision ? GARBAGE ^ data_a : memory[word_b];
        end
    end

    reg [17:0] register_a = 0;
    reg [17:0] register_b = 0;
    reg [17:0] register_low = 0;
    always @(posedge CLKA) if (OCEA) register_a <= read_a;
    always @(posedge CLKB) begin
        if (OCEA) register_low <= low;
        if (OCEB) register_b <= read_b;
    end

    assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6,
      DOA5, DOA4, DOA3, DOA2, DOA1, DOA0}
        = WIDE ? (REGISTERED_A ? register_low : low) : (REGISTERED_A ? register_a : read_a);
    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6,
      DOB5, DOB4, DOB3, DOB2, DOB1, DOB0}
        = REGISTERED_B ? register_b : read_b;

    always @* begin
        if (WEB === 1'b1 || RSTA === 1'b1 || RSTB === 1'b1
            || (CSA0 | CSA1 | CSA2 | CSB0 | CSB1 | CSB2) === 1'b1
            || (REGISTERED_A && !WIDE && CEA === 1'b0)
            || (REGISTERED_B && CEB !== OCEB) || (WIDE && REGISTERED_B && OCEA !== OCEB)) begin
            $display("%m: a write by port B, a reset or an enable, which is not modelled");
            $stop;
        end
    end
endmodule
