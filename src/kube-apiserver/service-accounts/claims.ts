/** Claims of service account tokens (upstream: pkg/serviceaccount, claims.go and legacy.go). Pure. */
import { serviceAccountUserName } from '../../apimachinery/account-user.ts';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';

/** Reference to an object by name and uid. */
export interface ObjectRef {
  readonly name: string;
  readonly uid: string;
}

/** Objects that the token is bound to: it is invalid once one of them is deleted. */
export interface Bounds {
  readonly pod?: ObjectRef;
  readonly secret?: ObjectRef;
  /**
   * Node of the token. In the token of a pod it is only informative, and its uid is empty if the Node does
   * not exist.
   */
  readonly node?: ObjectRef;
}

export interface AccountClaims extends Bounds {
  readonly namespace: string;
  readonly account: ObjectRef;
  /** Empty for a token without audiences, which is for the API server. */
  readonly audiences: readonly string[];
  /** Seconds since the epoch; absent in the token of a Secret. */
  readonly issuedAt?: number;
  readonly notBefore?: number;
  readonly expires?: number;
  readonly id?: string;
  /** Name of the Secret that contains the token, and must still contain it. */
  readonly contentOf?: string;
}

/** Issuer in the tokens of Secrets, whatever the cluster's issuer is. */
export const legacyIssuer = 'kubernetes/serviceaccount';

export const refOf = ({ metadata: { name, uid } }: KubeObject): ObjectRef => ({ name, uid });

interface Terms extends Bounds {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly namespace: string;
  readonly account: ObjectRef;
  readonly id: string;
  /** Seconds since the epoch. */
  readonly now: number;
  readonly expires: number;
  /** Time after which use of the token is worth a warning. */
  readonly warnAfter?: number;
}

/** Returns the claims of a token, in the order of upstream's. */
export function writeClaims(terms: Terms): JsonObject {
  const { issuer, audiences, namespace, account, pod, secret, node, id, now, expires, warnAfter } = terms;
  return {
    aud: [...audiences],
    exp: expires,
    iat: now,
    iss: issuer,
    jti: id,
    'kubernetes.io': {
      namespace,
      ...(node && { node: written(node) }),
      ...(pod && { pod }),
      ...(secret && { secret }),
      serviceaccount: account,
      ...(warnAfter !== undefined && { warnafter: warnAfter }),
    },
    nbf: now,
    sub: serviceAccountUserName(namespace, account.name),
  };
}

const written = ({ name, uid }: ObjectRef) => ({ name, ...(uid && { uid }) });

const legacyPrefix = 'kubernetes.io/serviceaccount';

/** Returns the claims of a Secret's token, which never expires. */
export const writeLegacyClaims = (
  namespace: string,
  account: ObjectRef,
  secret: string,
): Record<string, string> => ({
  iss: legacyIssuer,
  [`${legacyPrefix}/namespace`]: namespace,
  [`${legacyPrefix}/secret.name`]: secret,
  [`${legacyPrefix}/service-account.name`]: account.name,
  [`${legacyPrefix}/service-account.uid`]: account.uid,
  sub: serviceAccountUserName(namespace, account.name),
});

/**
 * Parses claims that one of this cluster's keys has signed; undefined for claims of another issuer, and for
 * incomplete ones.
 */
export function readClaims(claims: JsonObject, issuers: readonly string[]): AccountClaims | undefined {
  const { iss } = claims;
  const read =
    iss === legacyIssuer ? legacyClaims(claims) : issuers.some((one) => one === iss) && boundClaims(claims);
  if (!read) return undefined;
  const isWhole = read.namespace && read.account.name && read.account.uid;
  const isHis = claims.sub === serviceAccountUserName(read.namespace, read.account.name);
  return isWhole && isHis ? read : undefined;
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

function legacyClaims(claims: JsonObject): AccountClaims | undefined {
  const text = (name: string) => textOf(claims[`${legacyPrefix}/${name}`]);
  const contentOf = text('secret.name');
  const account = { name: text('service-account.name'), uid: text('service-account.uid') };
  return contentOf ? { namespace: text('namespace'), account, audiences: [], contentOf } : undefined;
}

function boundClaims(claims: JsonObject): AccountClaims | undefined {
  const { aud, exp, iat, nbf, jti } = claims;
  const own = claims['kubernetes.io'];
  if (!isRecord(own) || typeof exp !== 'number' || typeof iat !== 'number' || typeof nbf !== 'number')
    return undefined;
  const bound = (kind: 'node' | 'pod' | 'secret') => {
    const ref = refIn(own[kind]);
    return ref && { [kind]: ref };
  };
  return {
    namespace: textOf(own.namespace),
    account: refIn(own.serviceaccount) ?? { name: '', uid: '' },
    audiences: Array.isArray(aud) ? aud.map(textOf) : [],
    issuedAt: iat,
    notBefore: nbf,
    expires: exp,
    ...(typeof jti === 'string' && { id: jti }),
    ...bound('pod'),
    ...bound('secret'),
    ...bound('node'),
  };
}

const refIn = (value: unknown): ObjectRef | undefined =>
  isRecord(value) ? { name: textOf(value.name), uid: textOf(value.uid) } : undefined;
