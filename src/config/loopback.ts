/** Whether a host, as a URL or a listener names it, is this machine whatever a name server says. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}
