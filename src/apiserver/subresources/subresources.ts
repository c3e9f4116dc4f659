/** The subresources of each kind, for routing and for discovery. */
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { Handler } from '../request-scope.ts';
import { podAttach } from './attach.ts';
import { bindPod } from './binding.ts';
import { evictPod } from './eviction.ts';
import { podExec } from './exec.ts';
import { finalizeNamespace } from './finalize.ts';
import { podLog } from './log.ts';
import { podPortForward } from './port-forward.ts';
import { nodeProxy, podProxy, serviceProxy } from './proxy.ts';
import { getScale, patchScale, putScale } from './scale.ts';
import { getStatus, patchStatus, putStatus } from './status.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
/** GET serves HEAD too. */
export type MethodTable = Readonly<Partial<Record<Method, Handler>>>;

export interface Subresource {
  readonly methods: MethodTable;
  /** What it answers when that is not the parent's kind. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  /** More path may follow its name. */
  readonly takesPath?: boolean;
  /** Its answers are not objects: the Accept header is for the backend, not for the API server. */
  readonly answersBytes?: boolean;
}

type Subresources = Readonly<Record<string, Subresource>>;

/** Undefined for a name that is none. */
export function findSubresource(definition: ResourceDefinition, name: string): Subresource | undefined {
  const all = subresourcesOf(definition);
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

/** Each of these subresources writes a part of the status. */
const status: Subresource = { methods: { GET: getStatus, PUT: putStatus, PATCH: patchStatus } };

const scale: Subresource = {
  methods: { GET: getScale, PUT: putScale, PATCH: patchScale },
  kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
};

/** GET begins a WebSocket, POST is SPDY's. */
const stream = (handler: Handler, kind: string): Subresource => ({
  methods: { GET: handler, POST: handler },
  kind: { group: '', version: 'v1', kind },
  answersBytes: true,
});

const proxy = (handler: Handler, kind: string): Subresource => ({
  methods: {
    GET: handler,
    POST: handler,
    PUT: handler,
    PATCH: handler,
    DELETE: handler,
    OPTIONS: handler,
  },
  kind: { group: '', version: 'v1', kind },
  takesPath: true,
  answersBytes: true,
});

const special: Readonly<Record<string, Subresources>> = {
  '/pods': {
    binding: { methods: { POST: bindPod }, kind: { group: '', version: 'v1', kind: 'Binding' } },
    eviction: { methods: { POST: evictPod }, kind: { group: 'policy', version: 'v1', kind: 'Eviction' } },
    log: { methods: { GET: podLog }, answersBytes: true },
    exec: stream(podExec, 'PodExecOptions'),
    attach: stream(podAttach, 'PodAttachOptions'),
    portforward: stream(podPortForward, 'PodPortForwardOptions'),
    proxy: proxy(podProxy, 'PodProxyOptions'),
  },
  '/services': { proxy: proxy(serviceProxy, 'ServiceProxyOptions') },
  '/nodes': { proxy: proxy(nodeProxy, 'NodeProxyOptions') },
  'certificates.k8s.io/certificatesigningrequests': { approval: status },
  '/namespaces': { finalize: { methods: { PUT: finalizeNamespace } } },
};

export function subresourcesOf(definition: ResourceDefinition): Subresources {
  return {
    ...special[`${definition.group}/${definition.plural}`],
    ...(definition.hasStatus && { status }),
    ...(definition.scale && { scale }),
  };
}
