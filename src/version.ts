/** A test keeps it equal to package.json's version: reading that file would cost a file access at every start. */
export const version = '0.1.0';
