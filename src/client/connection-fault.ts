/** What is wrong, and what to do. */
export type Fault = readonly [message: string, remedy: string];

/** The setting that names a server. */
interface Named {
  readonly setting: string;
  /** How to trust a certificate authority that Node does not know. */
  readonly trust: string;
}

/**
 * Why no connection could be made, from the first error in the chain of causes with a known code of the system, TLS or
 * HTTP. Undefined if none has one.
 */
export function connectionFault(thrown: unknown, { setting, trust }: Named): Fault | undefined {
  const certificateRemedy = `${trust}; check this machine's clock`;
  const unknownAuthority: Fault = ['its certificate is signed by an unknown authority', certificateRemedy];
  const late: Fault = ['it does not answer in time', `check host and port of ${setting}, and firewalls`];
  const closed: Fault = ['it closes the connection without an answer', `check host and port of ${setting}`];
  const faults: Readonly<Record<string, Fault>> = {
    ECONNREFUSED: ['nothing listens there', `start it, or check host and port of ${setting}`],
    ENOTFOUND: ['no host has that name', `check the host of ${setting}, and DNS`],
    EAI_AGAIN: ['the name cannot be resolved at the moment', 'check the network and DNS'],
    EHOSTUNREACH: ['there is no route to that host', 'check the network'],
    ENETUNREACH: ['there is no route to that network', 'check the network'],
    ETIMEDOUT: late,
    ECONNRESET: closed,
    EPIPE: closed,
    CERT_HAS_EXPIRED: ['its certificate has expired', "renew it; check this machine's clock"],
    CERT_NOT_YET_VALID: ['its certificate is not valid yet', "check this machine's clock"],
    ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is for another host', `check the host of ${setting}`],
    DEPTH_ZERO_SELF_SIGNED_CERT: ['its certificate is self-signed', trust],
    SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  };
  const chain = causesOf(thrown);
  for (const one of chain) {
    const code = (one as NodeJS.ErrnoException).code ?? '';
    if (/wrong.version.number|packet.length.too.long/i.test(`${code} ${one.message}`))
      return ['it does not speak TLS', `write http:// in ${setting}, or check its port`];
    if (code.startsWith('HPE_'))
      return ['what answers there does not speak HTTP', `write https:// in ${setting}, or check its port`];
    const fault = faults[code];
    if (fault !== undefined) return fault;
  }
  const text = chain.at(-1)?.message ?? String(thrown);
  if (!/certificate|self.signed|TLS|SSL/i.test(text)) return undefined;
  return [`its certificate is not accepted (${text})`, certificateRemedy];
}

export function causesOf(thrown: unknown): Error[] {
  const chain: Error[] = [];
  for (let at = thrown; at instanceof Error && chain.length < 10; at = at.cause) chain.push(at);
  return chain;
}

/** How a command says why it can't reach a server that an environment variable names. */
export function unreachableBecause(thrown: unknown, setting: string): string {
  const trust = "set NODE_EXTRA_CA_CERTS to the file of its authority's certificate";
  const fault = connectionFault(thrown, { setting, trust });
  if (fault !== undefined) return fault.join('; ');
  const code = causesOf(thrown).find((one) => 'code' in one) as NodeJS.ErrnoException | undefined;
  return `the connection failed${code?.code === undefined ? '' : ` (${code.code})`}; check ${setting}`;
}

/** Whether nothing listens at an address: for one of this machine, that is a server that was not started. */
export function isRefused(thrown: unknown): boolean {
  return causesOf(thrown).some((one) => (one as NodeJS.ErrnoException).code === 'ECONNREFUSED');
}
