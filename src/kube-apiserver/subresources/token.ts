/**
 * POST serviceaccounts/NAME/token: creates a token of the account (upstream:
 * pkg/registry/core/serviceaccount/storage/token.go).
 */
import { type TokenRequest, tokenRequestKind } from '../../api/authentication/v1/token-request.ts';
import type { BoundObjectReference } from '../../api/authentication/v1/types.gen.ts';
import { nodeResource } from '../../api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { secretResource } from '../../api/core/v1/secret.ts';
import { serviceAccountResource } from '../../api/core/v1/service-account/service-account.ts';
import type { JsonObject } from '../../apimachinery/equality.ts';
import { invalidCause } from '../../apimachinery/field-error.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import { newBadRequest, newConflict, newInvalid, newNotFound } from '../../apimachinery/status-error.ts';
import { respondOther } from '../../apiserver/encoding/answer.ts';
import type { Handler, RequestScope } from '../../apiserver/request/request-scope.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import { readObjectBody } from '../../apiserver/verbs/read-body.ts';
import { writeOptions } from '../../apiserver/write-options.ts';
import { rfc3339 } from '../../base/time.ts';
import type { KubeContext } from '../context.ts';
import { type Bounds, type ObjectRef, refOf, writeClaims } from '../service-accounts/claims.ts';

type Parts = Pick<KubeContext, 'accountKeys' | 'cache' | 'clock' | 'issuer' | 'random' | 'store'>;

/**
 * Seconds that mark a duration which admission chose, because the volume of the pod does not set one. The
 * program in such a pod may read its token only once.
 */
const chosenByAdmission = 3607;
const extendedSeconds = 365 * 24 * 3600;

export const requestToken =
  (server: Parts): Handler =>
  async (scope) => {
    const options = writeOptions(scope, 'CreateOptions');
    const request = (await readObjectBody(scope, options, { served: tokenRequestKind })) as TokenRequest;
    const { name, namespace } = scope.info;
    checkTarget(request, scope.info);
    const account = await required(server, serviceAccountResource, namespace, name);
    const { metadata, spec } = request;
    if (!spec.audiences?.length) spec.audiences = [...server.issuer.audiences];
    const now = Math.floor(server.clock.now() / 1000);
    Object.assign(metadata, { name, namespace, creationTimestamp: rfc3339(now * 1000) });
    delete request.status;
    const causes = tokenRequestKind.strategy.validate?.(request) ?? [];
    if (causes.length > 0) throw newInvalid(tokenRequestKind, '', causes);
    await admit(scope, request);

    const bounds = await boundsOf(server, scope.info, spec.boundObjectRef);
    const { audiences, expirationSeconds } = spec;
    const isExtended = isForSlowProgram(server, spec, bounds);
    const expires = now + (isExtended ? extendedSeconds : expirationSeconds);
    const claims = writeClaims({
      ...bounds,
      issuer: server.issuer.issuers[0] ?? '',
      audiences,
      namespace,
      account: refOf(account),
      id: server.random.uuid(),
      now,
      expires,
      ...(isExtended && { warnAfter: now + expirationSeconds }),
    });
    const token = await server.accountKeys.sign(claims, expires * 1000);
    const expirationTimestamp = rfc3339((now + expirationSeconds) * 1000);
    return respondOther(scope, 201, answerOf(request, { token, expirationTimestamp }));
  };

function answerOf({ metadata, spec }: TokenRequest, status: JsonObject): JsonObject {
  const { name, namespace, creationTimestamp } = metadata;
  return {
    kind: tokenRequestKind.kind,
    apiVersion: `${tokenRequestKind.group}/${tokenRequestKind.version}`,
    metadata: { ...metadata, name, namespace, creationTimestamp, uid: undefined, resourceVersion: undefined },
    spec: { boundObjectRef: null, ...spec },
    status,
  };
}

function checkTarget({ metadata }: TokenRequest, target: RequestScope['info']): void {
  const causes = (['name', 'namespace'] as const)
    .filter((field) => metadata[field] && metadata[field] !== target[field])
    .map((field) =>
      invalidCause(
        `metadata.${field}`,
        metadata[field],
        `must match the service account ${field} if specified`,
      ),
    );
  if (causes.length > 0) throw newInvalid(tokenRequestKind, target.name, causes);
}

async function admit({ server, info, user }: RequestScope, object: TokenRequest): Promise<void> {
  const { name, namespace } = info;
  const definition = serviceAccountResource as Parameters<typeof server.admission.validate>[0]['definition'];
  const admission = {
    operation: 'create',
    definition,
    subresource: 'token',
    name,
    namespace,
    user,
    object,
  } as const;
  await server.admission.mutate(admission);
  await server.admission.validate(admission);
}

async function required<T extends KubeObject>(
  server: Parts,
  ref: ResourceRef<T>,
  namespace: string,
  name: string,
): Promise<T> {
  const found = await findObject(server, ref, namespace, name);
  if (!found) throw newNotFound(ref, name);
  return found;
}

async function boundsOf(
  server: Parts,
  { name: account, namespace }: RequestScope['info'],
  ref: BoundObjectReference | undefined,
): Promise<Bounds> {
  if (!ref) return {};
  const { apiVersion = '', kind = '', name = '' } = ref;
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  switch (group === '' ? kind : '') {
    case 'Pod': {
      const pod = await required(server, podResource, namespace, name);
      if (pod.spec.serviceAccountName !== account)
        throw newBadRequest(
          `cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`,
        );
      const node = await nodeOf(server, pod);
      return { pod: checked(pod, ref), ...(node && { node }) };
    }
    case 'Node':
      return { node: checked(await required(server, nodeResource, '', name), ref) };
    case 'Secret':
      return { secret: checked(await required(server, secretResource, namespace, name), ref) };
    default:
      throw newBadRequest(`cannot bind token to object of type ${apiVersion}, Kind=${kind}`);
  }
}

/** Returns the node of the pod, as far as it is known. */
async function nodeOf(server: Parts, { spec: { nodeName } }: Pod): Promise<ObjectRef | undefined> {
  if (!nodeName) return undefined;
  const node = await findObject(server, nodeResource, '', nodeName);
  return node ? refOf(node) : { name: nodeName, uid: '' };
}

function checked(object: KubeObject, { kind = '', name = '', uid }: BoundObjectReference): ObjectRef {
  if (uid && uid !== object.metadata.uid)
    throw newConflict(
      { group: '', plural: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  return refOf(object);
}

/**
 * Returns whether the token is for a program that may read it only once. Such a token is valid for longer
 * than reported, and is still replaced as early.
 */
const isForSlowProgram = (
  { issuer }: Parts,
  { audiences = [], expirationSeconds }: TokenRequest['spec'],
  { pod }: Bounds,
) =>
  issuer.extendsTokens &&
  pod !== undefined &&
  expirationSeconds === chosenByAdmission &&
  audiences.every((one) => issuer.audiences.includes(one));
