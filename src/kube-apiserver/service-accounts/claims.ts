/** What a token of a service account says (upstream: pkg/serviceaccount, claims.go and legacy.go). Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';

/** Of an object: its name, and which one of that name it is. */
export interface ObjectRef {
  readonly name: string;
  readonly uid: string;
}

/** What the token is bound to: it is worth nothing once that has gone. */
export interface Bounds {
  readonly pod?: ObjectRef;
  readonly secret?: ObjectRef;
  /** Beside a pod it only says where that runs; its uid is then empty where the Node is not there. */
  readonly node?: ObjectRef;
}

export interface AccountClaims extends Bounds {
  readonly namespace: string;
  readonly account: ObjectRef;
  /** Empty for one that says none: then it is for the API server. */
  readonly audiences: readonly string[];
  /** Seconds since the epoch; absent in the token of a Secret. */
  readonly issuedAt?: number;
  readonly notBefore?: number;
  readonly expires?: number;
  readonly id?: string;
  /** The token is the content of this Secret, which must still hold it. */
  readonly contentOf?: string;
}

/** What the tokens of Secrets say of their issuer, whatever the cluster's is. */
export const legacyIssuer = 'kubernetes/serviceaccount';
const userPrefix = 'system:serviceaccount:';

export const accountUserName = (namespace: string, name: string) => `${userPrefix}${namespace}:${name}`;

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
  /** From then on its use is worth a warning. */
  readonly warnAfter?: number;
}

/** In the order in which upstream's tokens have them. */
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
    sub: accountUserName(namespace, account.name),
  };
}

const written = ({ name, uid }: ObjectRef) => ({ name, ...(uid && { uid }) });

const legacyPrefix = 'kubernetes.io/serviceaccount';

/** Of the token that a Secret holds: it has no end. */
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
  sub: accountUserName(namespace, account.name),
});

/** Reads claims that our own key has signed; undefined for those that another issuer's name stands in, or that lack something. */
export function readClaims(claims: JsonObject, issuers: readonly string[]): AccountClaims | undefined {
  const { iss } = claims;
  const read =
    iss === legacyIssuer ? legacyClaims(claims) : issuers.some((one) => one === iss) && boundClaims(claims);
  if (!read) return undefined;
  const isWhole = read.namespace && read.account.name && read.account.uid;
  const isHis = claims.sub === accountUserName(read.namespace, read.account.name);
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
