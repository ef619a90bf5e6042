/** Where the plant store listens unless something else is configured. */
export const standardPlantsUrl = 'http://127.0.0.1:4101/v3';

/**
 * Whether a host name, as a URL, a listener or a Host header without its port gives it, is this machine, whatever a name
 * server says: `localhost`, 127.0.0.0/8 and ::1, with or without brackets.
 */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}
