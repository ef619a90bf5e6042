const minuteMs = 60_000;

/** Times of records (RFC 3339): a Date makes them too, but takes longer than the rest of a record's beginning. */
export class TimeText {
  #minute = Number.NaN;
  /** All that is the same for a minute: up to the second colon. */
  #beginning = '';

  text(ms: number): string {
    const minute = Math.floor(ms / minuteMs);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#beginning = new Date(minute * minuteMs).toISOString().slice(0, -'00.000Z'.length);
    }
    // The digits are those behind a one that keeps the zeros.
    const digits = String(100_000 + Math.floor(ms - minute * minuteMs));
    return `${this.#beginning}${digits.slice(1, 3)}.${digits.slice(3)}Z`;
  }
}
