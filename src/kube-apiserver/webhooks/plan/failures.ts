/**
 * Reasons why a webhook could not be called, in the words of Go's HTTP client and of Kubernetes' REST client.
 */
import { isRecord } from '../../../apimachinery/equality.ts';

/** Error codes for a certificate that no authority of the webhook's caBundle has signed. */
const unknownAuthority = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const unverified = 'tls: failed to verify certificate: x509:';

/** Returns the reason of a failed connection. */
export function connectionFailure(error: unknown): string {
  const { code, message, reason, cert } = error as NodeJS.ErrnoException & {
    reason?: string;
    cert?: { subjectaltname?: string };
  };
  if (code === undefined) return message;
  if (unknownAuthority.has(code)) return `${unverified} certificate signed by unknown authority`;
  switch (code) {
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `${unverified} certificate has expired or is not yet valid`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `${unverified} certificate is valid for ${names(cert?.subjectaltname)}, not ${nameIn(reason)}`;
    case 'ECONNREFUSED':
      return `dial tcp ${addressIn(message)}: connect: connection refused`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${addressIn(message)}: no such host`;
    case 'ECONNRESET':
      return 'EOF';
    default:
      return message;
  }
}

/** Returns the last word of a message such as `connect ECONNREFUSED 127.0.0.1:1`. */
const addressIn = (message: string) => message.split(' ').at(-1) ?? '';

const names = (list = '') => list.replace(/(DNS|IP Address|URI|email):/g, '') || 'no names';

/** Returns the host in a reason such as `Host: a.example. is not in the cert's altnames: …`. */
const nameIn = (reason = '') => /^(?:Host|IP): (\S+?)\.? /.exec(reason)?.[1] ?? 'the host';

const plain: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** Maximum number of characters of a response that a message repeats. */
const maxShown = 2048;

/** Returns the error message for a response whose status is not between 200 and 206. */
export function statusFailure(status: number, contentType: string, body: string): string {
  const message = statusMessage(body);
  if (message !== undefined) return message;
  const known = plain[status];
  if (known) return known;
  if (status < 500)
    return `the server responded with the status code ${status} but did not return more information`;
  const shown = /^text\//.test(contentType) ? body.trim().slice(0, maxShown) : 'unknown';
  return `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`;
}

/** Returns the message of a Status, or undefined if the body is not a Status with a message. */
function statusMessage(body: string): string | undefined {
  if (!body.startsWith('{') || body.length > maxShown) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    if (!isRecord(value) || value.kind !== 'Status') return undefined;
    return typeof value.message === 'string' && value.message ? value.message : undefined;
  } catch {
    return undefined;
  }
}
