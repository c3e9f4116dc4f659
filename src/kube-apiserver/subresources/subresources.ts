/** The subresources of Kubernetes' own kinds, by group and plural. */
import { tokenRequestKind } from '../../api/authentication/v1/token-request.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { Handler } from '../../apiserver/request/request-scope.ts';
import { type Subresource, type Subresources, status } from '../../apiserver/subresources/subresources.ts';
import type { KubeContext } from '../context.ts';
import { podAttach } from './attach.ts';
import { bindPod } from './binding.ts';
import { ephemeralContainers } from './ephemeral-containers.ts';
import { serveEveryMethod } from './every-method.ts';
import { evictPod } from './eviction.ts';
import { podExec } from './exec.ts';
import { finalizeNamespace } from './finalize.ts';
import { podLog } from './log.ts';
import { podPortForward } from './port-forward.ts';
import { nodeProxy, podProxy, serviceProxy } from './proxy.ts';
import { resizePod } from './resize.ts';
import { reviewed } from './review.ts';
import { requestToken } from './token.ts';

/** Subresource with a stream: GET begins a WebSocket, POST is SPDY's. */
const stream = (handler: Handler, kind: string): Subresource => ({
  methods: { GET: reviewed(handler, kind), POST: reviewed(handler, kind) },
  kind: { group: '', version: 'v1', kind },
  longRunning: 'stream',
  answersBytes: true,
});

const proxy = (handler: Handler, kind: string): Subresource => ({
  ...serveEveryMethod(reviewed(handler, kind), kind, 'stream'),
  takesPath: true,
});

type Parts = Parameters<typeof requestToken>[0] & Pick<KubeContext, 'nodeConnection'>;

const specialOf = ({ nodeConnection, ...server }: Parts): Readonly<Record<string, Subresources>> => ({
  '/pods': {
    binding: { methods: { POST: bindPod }, kind: { group: '', version: 'v1', kind: 'Binding' } },
    eviction: { methods: { POST: evictPod }, kind: { group: 'policy', version: 'v1', kind: 'Eviction' } },
    ephemeralcontainers: ephemeralContainers,
    resize: resizePod,
    log: { methods: { GET: podLog(nodeConnection) }, longRunning: 'log', answersBytes: true },
    exec: stream(podExec(nodeConnection), 'PodExecOptions'),
    attach: stream(podAttach(nodeConnection), 'PodAttachOptions'),
    portforward: stream(podPortForward(nodeConnection), 'PodPortForwardOptions'),
    proxy: proxy(podProxy(nodeConnection), 'PodProxyOptions'),
  },
  '/services': { proxy: proxy(serviceProxy(nodeConnection), 'ServiceProxyOptions') },
  '/nodes': { proxy: proxy(nodeProxy(nodeConnection), 'NodeProxyOptions') },
  'certificates.k8s.io/certificatesigningrequests': { approval: status },
  '/serviceaccounts': {
    token: {
      methods: { POST: requestToken(server) },
      kind: { group: tokenRequestKind.group, version: tokenRequestKind.version, kind: tokenRequestKind.kind },
    },
  },
  '/namespaces': { finalize: { methods: { PUT: finalizeNamespace } } },
});

/**
 * Returns the subresources of a kind besides `/status` and `/scale`; created once for a server. `ofFeatures`
 * has the subresources of features' kinds, by `GROUP/PLURAL`.
 */
export function kubeSubresources(
  server: Parts,
  ofFeatures: Readonly<Record<string, Subresources>>,
): (definition: ResourceDefinition) => Subresources {
  const special = { ...specialOf(server), ...ofFeatures };
  return ({ group, plural }) => special[`${group}/${plural}`] ?? {};
}
