/**
 * The public certificate authorities, which are Node's own list. Reading them takes 12 ms of processor time
 * in every process that uses TLS, and most processes only connect to servers with an authority of the
 * cluster. The packaged executable therefore starts Node with the option --use-openssl-ca
 * (config/build/executable.ts), with which Node does not read its list, and reads it when it is needed.
 */
import { isSea } from 'node:sea';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

let state: 'unset' | 'none' | 'public' = 'unset';

/**
 * Trusts the public authorities, and those of $NODE_EXTRA_CA_CERTS, in connections without authorities of
 * their own. Must be called before such a connection; without it the server's certificate is rejected.
 */
export function trustPublicAuthorities(): void {
  if (!isSea() || state === 'public') return;
  state = 'public';
  setDefaultCACertificates([...getCACertificates('bundled'), ...getCACertificates('extra')]);
}

/**
 * Must be called before a connection with authorities of its own: Node would otherwise read the default ones
 * to compare the two stores.
 */
export function sparePublicAuthorities(): void {
  if (!isSea() || state !== 'unset') return;
  state = 'none';
  setDefaultCACertificates([]);
}
