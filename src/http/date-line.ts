/** The Date header, made once a second (RFC 9110, section 6.6.1). */
export class DateLine {
  #second = -1;
  #line = '';

  line(nowMs: number): string {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#line = `date: ${new Date(second * 1_000).toUTCString()}\r\n`;
    }
    return this.#line;
  }
}
