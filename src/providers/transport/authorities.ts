import * as tls from 'node:tls';

/** A TLS context that trusts further certificate authorities besides Node's own. */
export function contextWith(ca: string): tls.SecureContext {
  return tls.createSecureContext({ ca: [...ownAuthorities(), ca] });
}

/** From Node 22.15 on with those of NODE_EXTRA_CA_CERTS and, where asked for, of the system. */
function ownAuthorities(): readonly string[] {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => readonly string[] };
  return getCACertificates?.('default') ?? tls.rootCertificates;
}
