/** Kept equal to package.json's by a test: reading that file would cost every start a file access. */
export const version = '0.1.0';
