/** The profiles of `ctl debug`: what a debugging container may do, and how its pod is changed. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { recordAt, recordsAt, textAt } from '../objects/objects.ts';

export const profiles = ['legacy', 'general', 'baseline', 'netadmin', 'restricted', 'sysadmin'] as const;
export type Profile = (typeof profiles)[number];

/** Place of the debugging container: in the pod itself, in a copy of the pod, or in a new pod on a node. */
export type DebugStyle = 'ephemeral' | 'copy' | 'node';

/** Parts of the pod that a copy keeps. */
export interface KeptParts {
  readonly labels: boolean;
  readonly annotations: boolean;
  readonly livenessProbe: boolean;
  readonly readinessProbe: boolean;
  readonly startupProbe: boolean;
  readonly initContainers: boolean;
}

const addedCapabilities: Partial<Record<Profile, readonly string[]>> = {
  netadmin: ['NET_ADMIN', 'NET_RAW'],
  general: ['SYS_PTRACE'],
};

/** Returns the container with the securityContext of the profile. */
export function profiledContainer(container: JsonObject, profile: Profile, style: DebugStyle): JsonObject {
  const { securityContext: _, ...bare } = container;
  switch (profile) {
    case 'legacy':
      return container;
    case 'baseline':
      return bare;
    case 'restricted':
      return { ...bare, securityContext: restricted };
    case 'sysadmin':
      return {
        ...bare,
        securityContext: { ...recordAt(container, 'securityContext'), privileged: true },
      };
    case 'general':
      // The pod of a node is in the namespaces of the node, and traces processes there without a capability.
      return style === 'node' ? bare : withCapabilities(container, addedCapabilities.general);
    case 'netadmin':
      return withCapabilities(container, addedCapabilities.netadmin);
  }
}

const restricted: JsonObject = {
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  allowPrivilegeEscalation: false,
  seccompProfile: { type: 'RuntimeDefault' },
};

function withCapabilities(container: JsonObject, names: readonly string[] = []): JsonObject {
  const securityContext = recordAt(container, 'securityContext');
  const capabilities = recordAt(securityContext, 'capabilities');
  const add = [...(Array.isArray(capabilities.add) ? capabilities.add : []), ...names];
  return { ...container, securityContext: { ...securityContext, capabilities: { ...capabilities, add } } };
}

/**
 * Returns the pod of a node with the profile, which may add the namespaces of the node, and its files at
 * /host.
 */
export function profiledNodePod(pod: JsonObject, profile: Profile): JsonObject {
  const spec = recordAt(pod, 'spec');
  const containers = recordsAt(spec, 'containers').map((container) =>
    profiledContainer(container, profile, 'node'),
  );
  const [seesFiles, isInHost] = [hostFiles.has(profile), hostNamespaces.has(profile)];
  return {
    ...pod,
    spec: {
      ...spec,
      containers: seesFiles ? containers.map(withHostFiles) : containers,
      ...(seesFiles && { volumes: [{ name: hostVolume, hostPath: { path: '/' } }] }),
      ...(isInHost && { hostNetwork: true, hostPID: true, hostIPC: true }),
    },
  };
}

const hostFiles: ReadonlySet<Profile> = new Set(['legacy', 'general', 'sysadmin']);
const hostNamespaces: ReadonlySet<Profile> = new Set(['legacy', 'general', 'sysadmin', 'netadmin']);
const hostVolume = 'host-root';

const withHostFiles = (container: JsonObject): JsonObject => ({
  ...container,
  volumeMounts: [...recordsAt(container, 'volumeMounts'), { name: hostVolume, mountPath: '/host' }],
});

/** Returns the copy of a pod with the profile applied to its container `name`. */
export function profiledCopy(pod: JsonObject, name: string, profile: Profile, kept: KeptParts): JsonObject {
  const spec = recordAt(pod, 'spec');
  const apply = (container: JsonObject) =>
    textAt(container, 'name') === name ? profiledContainer(container, profile, 'copy') : container;
  const { initContainers, ...rest } = spec;
  const inits = recordsAt(spec, 'initContainers').map(apply);
  const containers = recordsAt(spec, 'containers').map(apply);
  if (profile === 'legacy')
    return { ...pod, metadata: keptMetadata(pod, { ...kept, labels: false, annotations: true }) };
  return {
    ...pod,
    metadata: keptMetadata(pod, kept),
    spec: {
      ...rest,
      ...(initContainers !== undefined && kept.initContainers && { initContainers: inits }),
      containers: containers.map((container) => keptProbes(container, kept)),
      shareProcessNamespace: spec.shareProcessNamespace ?? true,
    },
  };
}

function keptMetadata(pod: JsonObject, kept: Pick<KeptParts, 'labels' | 'annotations'>): JsonObject {
  const { labels, annotations, ...rest } = recordAt(pod, 'metadata');
  return {
    ...rest,
    ...(kept.labels && labels !== undefined && { labels }),
    ...(kept.annotations && annotations !== undefined && { annotations }),
  };
}

function keptProbes(container: JsonObject, kept: KeptParts): JsonObject {
  const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
  return Object.fromEntries(
    Object.entries(container).filter(([field]) => !probes.some((probe) => probe === field && !kept[probe])),
  );
}
