/**
 * Restricts the PodCertificateRequests that a node may create: for a pod that it runs, with the pod's own
 * account, and with a signer that a volume of the pod names (upstream: NodeRestriction,
 * admitPodCertificateRequest).
 */
import {
  type PodCertificateRequest,
  podCertificateRequestResource as resource,
} from '../../api/certificates/v1/pod-certificate-request.ts';
import { nodeResource } from '../../api/core/v1/node/node.ts';
import { mirrorAnnotation } from '../../api/core/v1/pod/annotations.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { serviceAccountResource } from '../../api/core/v1/service-account/service-account.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import { newConflict } from '../../apimachinery/status-error.ts';
import type { Admission } from '../../apiserver/admission/plugin.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import type { KubeContext } from '../context.ts';

type Parts = Pick<KubeContext, 'authorize' | 'cache' | 'store'>;

/**
 * Returns why the request is rejected; undefined if it is allowed. Throws a 409 if an object does not exist
 * or has another uid, which may change.
 */
export async function restrictCertificate(
  server: Parts,
  node: string,
  { operation, namespace, object, user }: Admission,
): Promise<string | undefined> {
  if (operation !== 'create' || !object) return `unexpected operation ${operation.toUpperCase()}`;
  const request = object as PodCertificateRequest;
  const { spec } = request;
  if (spec.nodeName !== node)
    return `PodCertificateRequest.Spec.NodeName=${JSON.stringify(spec.nodeName)}, which is not the requesting node ${JSON.stringify(node)}`;
  await requireUid(server, request, nodeResource, '', spec.nodeName, spec.nodeUID);
  const pod = await requireUid(server, request, podResource, namespace, spec.podName, spec.podUID);
  const fault = podFault(pod, request, node) ?? ownerFault(request);
  if (fault !== undefined) return fault;
  const [account, accountUid] = [spec.serviceAccountName, spec.serviceAccountUID];
  await requireUid(server, request, serviceAccountResource, namespace, account, accountUid);
  if (namesSigner(pod, spec.signerName)) return undefined;
  const access = {
    ...({
      type: 'resource',
      user,
      verb: 'request-serviceaccounts-podcertificate-signer',
      namespace,
    } as const),
    ...{ group: resource.group, resource: spec.signerName.replaceAll('/', ':'), name: account },
  };
  if ((await server.authorize(access)).allowed) return undefined;
  return `pod ${quoted(pod)} does not mount a podCertificate projected volume for signer ${JSON.stringify(spec.signerName)}`;
}

/** Returns the object if it has the uid. This master may be behind: the node tries again after a 409. */
async function requireUid<T extends KubeObject>(
  server: Parts,
  request: PodCertificateRequest,
  ref: ResourceRef<T>,
  namespace: string,
  name: string,
  uid: string,
): Promise<T> {
  const found = await findObject(server, ref, namespace, name);
  if (found?.metadata.uid === uid) return found;
  const whose = `${ref.kind} ${JSON.stringify(namespace === '' ? name : `${namespace}/${name}`)}`;
  const why = found ? `has the uid ${found.metadata.uid}` : 'does not exist';
  const { name: requested } = request.metadata;
  throw newConflict(resource, requested, `the request is for ${whose} with the uid ${uid}, which ${why}`);
}

function podFault(pod: Pod, { spec }: PodCertificateRequest, node: string): string | undefined {
  if (pod.spec.nodeName !== node)
    return `pod ${quoted(pod)} is not running on node ${JSON.stringify(node)} named in the PodCertificateRequest`;
  if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return `pod ${quoted(pod)} is a mirror pod`;
  const account = pod.spec.serviceAccountName ?? '';
  return spec.serviceAccountName === account
    ? undefined
    : `PodCertificateRequest for pod ${quoted(pod)} contains serviceAccountName (${JSON.stringify(spec.serviceAccountName)}) that differs from running pod (${JSON.stringify(account)})`;
}

/** A request is removed with its pod, and may have no other owner. */
function ownerFault({ metadata, spec }: PodCertificateRequest): string | undefined {
  const isOfPod = (metadata.ownerReferences ?? []).every(
    ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }) =>
      apiVersion === 'v1' &&
      kind === podResource.kind &&
      name === spec.podName &&
      uid === spec.podUID &&
      !controller &&
      !blockOwnerDeletion,
  );
  return isOfPod ? undefined : 'the only owner of a PodCertificateRequest can be its pod';
}

const namesSigner = ({ spec }: Pod, signerName: string) =>
  (spec.volumes ?? []).some(({ projected }) =>
    projected?.sources?.some(({ podCertificate }) => podCertificate?.signerName === signerName),
  );

const quoted = ({ metadata: { namespace, name } }: Pod) => JSON.stringify(`${namespace}/${name}`);
