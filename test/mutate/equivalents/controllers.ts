import type { Equivalent } from '../equivalent.ts';

export const controllers: readonly Equivalent[] = [
  {
    file: 'src/features/slurm/controller/slurm-client-plan.ts',
    line: 'const isHeld = ({ metadata }: SlurmJob) => metadata.finalizers?.includes(slurmFinalizer) ?? false;',
    change:
      'metadata.finalizers?.includes(slurmFinalizer) ?? false → (metadata.finalizers?.includes(slurmFinalizer))',
    because: 'undefined is as false here',
  },
  {
    file: 'src/features/slurm/controller/slurm-client-plan.ts',
    line: '(pod) => !isTerminating(pod) && (isIdle || isPodTerminal(pod) || (live.includes(pod) && pod !== live[0])),',
    change: 'live.includes(pod) && pod !== live[0] → (pod !== live[0])',
    because: 'a pod that is not live has ended or is being deleted',
  },
  {
    file: 'src/features/slurm/controller/slurm-client-plan.ts',
    line: '...(idleAt !== undefined && live.length > 0 ? [idleAt] : []),',
    change: 'idleAt !== undefined && live.length > 0 → (live.length > 0)',
    because: 'undefined is not later than now',
  },
  {
    file: 'src/features/slurm/controller/slurm-client-plan.ts',
    line: 'return end === undefined || ttl === undefined || isTerminating(job)',
    change: 'end === undefined || ttl === undefined → (ttl === undefined)',
    because: 'a time that is no number is neither past nor to come',
  },
  {
    file: 'src/features/slurm/controller/slurm-clients.ts',
    line: "const byConnection = 'slurm.connection';",
    change: "'slurm.connection' → ''",
    because: 'it is the name of an index that only this file uses',
  },
  {
    file: 'src/features/slurm/controller/slurm-clients.ts',
    line: "const [namespace = '', secretName = ''] = key.split('/');",
    change: "'' → 'mutated'",
    because: 'the key of a connection has both',
  },
  {
    file: 'src/features/functions/controller/function.ts',
    line: 'return plan.again === undefined ? undefined : { requeueAfter: plan.again };',
    change: 'plan.again === undefined → false',
    because: 'a result without a time is no result',
  },
  {
    file: 'src/features/functions/controller/function.ts',
    line: 'if (of) await this.#makeInstances(fn, of, count, version === plan.status.activeVersion);',
    change: 'of → true',
    because: 'instances are planned only for versions that are there',
  },
  ...[
    ["const { name, namespace = '' } = fn.metadata;", "'' → 'mutated'"],
    ["const { name = '', namespace } = draft.metadata;", "'' → 'mutated'"],
  ].map(([line = '', change = '']) => ({
    file: 'src/features/functions/controller/function.ts',
    line,
    change,
    because: 'functions have a namespace, and drafts of versions a name',
  })),
  {
    file: 'src/features/functions/controller/warm-pool.ts',
    line: "const { name = '', namespace = '' } = draft.metadata;",
    change: "'' → 'mutated'",
    because: 'the draft has both',
  },
  {
    file: 'src/features/functions/controller/waiting-instances.ts',
    line: "const { name, namespace = '', uid, resourceVersion } = pod.metadata;",
    change: "'' → 'mutated'",
    because: 'pods have a namespace',
  },
  {
    file: 'src/features/functions/controller/waiting-instances.ts',
    line: 'context.informers.informerFor(podResource);',
    change: 'context.informers.informerFor(podResource); → ;',
    because: 'the controller asks for the same informer for the pods that it owns',
  },
  {
    file: 'src/features/functions/controller/function-plan.ts',
    line: 'if (before === latest) return latest;',
    change: 'before === latest → false',
    because: 'the latest version is one of the versions, so that both ways lead to it',
  },
  {
    file: 'src/features/functions/controller/function-plan.ts',
    line: 'const isThere = before !== undefined && versions.includes(before);',
    change: 'before !== undefined && versions.includes(before) → (versions.includes(before))',
    because: 'no version is undefined',
  },
  ...["'' → 'mutated'", "ready.lastTransitionTime ?? '' → (ready.lastTransitionTime)"].map((change) => ({
    file: 'src/features/functions/controller/function-plan.ts',
    line: "const since = Date.parse(ready.lastTransitionTime ?? '');",
    change,
    because: 'none of them is a time',
  })),
  {
    file: 'src/features/functions/controller/instance-plan.ts',
    line: "const { runtime = 'python' } = spec;",
    change: "'python' → ''",
    because: 'a version that instances wait for has a runtime',
  },
  {
    file: 'src/features/functions/controller/warm-pool-plan.ts',
    line: 'if (!runtime || !baseImage || warmProblem(version) !== undefined) return [];',
    change:
      '!runtime || !baseImage || warmProblem(version) !== undefined → (warmProblem(version) !== undefined)',
    because: 'warmProblem names a version without a runtime; the rest is for types',
  },
  ...['missing >= 0 → missing > 0', '0 → 1'].map((change) => ({
    file: 'src/controllers/workloads/replicas/replicas-plan.ts',
    line: 'if (missing >= 0) return { create: Math.min(missing, burstReplicas), remove: [] };',
    change,
    because: 'with none missing the other way makes none and deletes the first 0',
  })),
  {
    file: 'src/controllers/workloads/replicas/replicas-plan.ts',
    line: 'const phaseRank = { Pending: 0, Unknown: 1, Running: 2, Succeeded: 2, Failed: 2 } as const;',
    change: '2 → 3',
    because: 'only the order counts, and pods that have ended are not ranked',
  },
  ...['b[index] ?? 0 → (b[index])', '0 → 1'].map((change) => ({
    file: 'src/controllers/workloads/replicas/replicas-plan.ts',
    line: 'const right = b[index] ?? 0;',
    change,
    because: 'both lists are of the same length',
  })),
  {
    file: 'src/controllers/garbage/garbage-collector.ts',
    line: 'if (references.length === 0 && !isTerminating(object)) return;',
    change: 'references.length === 0 && !isTerminating(object) → false',
    because: 'it saves work: the plan for such an object is none',
  },
  {
    file: 'src/controllers/nodes/taint-eviction.ts',
    line: 'const left = pod && node ? this.#timeLeft(key, pod, node) : undefined;',
    change: 'pod && node → (node)',
    because: 'the node is that of the pod',
  },
  ...[
    '!pod || !node → (!pod)',
    '!pod || !node → (!node)',
    '!pod || !node || left === undefined → (left === undefined)',
  ].map((change) => ({
    file: 'src/controllers/nodes/taint-eviction.ts',
    line: 'if (!pod || !node || left === undefined) return this.#cancel(key, pod);',
    change,
    because: 'a time is left only to a pod on a node',
  })),
  {
    file: 'src/controllers/services/endpoints-plan.ts',
    line: `ports.map(({ name = '', port }) => \`\${name} \${String(port).padStart(5, '0')}\`).join();`,
    change: '5 → 6',
    because: 'a port has at most five digits',
  },
  {
    file: 'src/controllers/services/endpoints-plan.ts',
    line: 'if (total <= max) return counts;',
    change: 'total <= max → total < max',
    because: 'of a total that is just the most, each part is its count',
  },
  {
    file: 'src/controllers/certificates/csr-approving-plan.ts',
    line: "function makerOf({ username = '', groups = [] }: CertificateSigningRequest['spec']): Maker | undefined {",
    change: "'' → 'mutated'",
    because: 'neither is the name of a token or of a node',
  },
  ...[
    "nodeOfCommonName(content.commonName) ?? '' → (nodeOfCommonName(content.commonName))",
    "'' → 'mutated'",
  ].map((change) => ({
    file: 'src/controllers/certificates/csr-approving-plan.ts',
    line: "const name = nodeOfCommonName(content.commonName) ?? '';",
    change,
    because: 'the check of the content, before it, refuses a common name without one',
  })),
  ...["lease?.spec.renewTime ?? '' → (lease?.spec.renewTime)", "'' → 'mutated'"].map((change) => ({
    file: 'src/controllers/certificates/csr-approving-plan.ts',
    line: "Math.max(0, Math.floor((now - Date.parse(lease?.spec.renewTime ?? '')) / 1000));",
    change,
    because: 'none of them is a time',
  })),
  {
    file: 'src/controllers/certificates/csr-cleaner-plan.ts',
    line: ".map(({ lastUpdateTime = '' }) => Date.parse(lastUpdateTime) || created);",
    change: "'' → 'mutated'",
    because: 'neither is a time',
  },
  {
    file: 'src/controllers/nodes/node-ipam-plan.ts',
    line: 'known.set(node, ranges);',
    change: 'known.set(node, ranges); → ;',
    because: 'what is not remembered is read again',
  },
  {
    file: 'src/controllers/workloads/deployments/deployment-plan.ts',
    line: 'const greater = (a: bigint, b: bigint) => (a > b ? a : b);',
    change: 'a > b → a >= b',
    because: 'of two equal numbers either is the greater',
  },
  {
    file: 'src/controllers/workloads/deployments/deployment-plan.ts',
    line: `: \`Scaled \${after > before ? 'up' : 'down'} replica set \${name} from \${before} to \${after}\`;`,
    change: 'after > before → after >= before',
    because: 'sizes that are equal have been answered before',
  },
  ...[
    'const ordered = (toAdd > 0 ? byAge.reverse() : byAge).sort((a, b) => b.spec.replicas - a.spec.replicas);',
    'const part = toAdd > 0 ? Math.min(wanted, left) : Math.max(wanted, left);',
  ].map((line) => ({
    file: 'src/controllers/workloads/deployments/deployment-rollout.ts',
    line,
    change: 'toAdd > 0 → toAdd >= 0',
    because: 'with nothing to add every part is 0, in whatever order',
  })),
  ...[
    ['#dueAt = 0;', '0 → 1'],
    ['#since = 0;', '0 → 1'],
    ['#storeLost = false;', 'false → true'],
  ].map(([line = '', change = '']) => ({
    file: 'src/controllers/nodes/heartbeat-monitor.ts',
    line,
    change,
    because: '`follow` sets it, before anything is asked',
  })),
  {
    file: 'src/controllers/nodes/heartbeat-monitor.ts',
    line: 'const gap = now - (this.#receivedAt ?? now);',
    change: 'this.#receivedAt ?? now → (this.#receivedAt)',
    because: 'NaN is no more greater than a limit than 0 is',
  },
  ...['gap > tickMs → gap >= tickMs', 'gap > tickMs && gap > limit() → (gap > limit())'].map((change) => ({
    file: 'src/controllers/nodes/heartbeat-monitor.ts',
    line: 'if (this.#storeLost || (gap > tickMs && gap > limit())) this.#restart();',
    change,
    because: 'it only saves asking for the limit, which is longer than a tick',
  })),
  {
    file: 'src/controller-runtime/observed-writes.ts',
    line: 'this.#byUid.delete(uid);',
    change: 'this.#byUid.delete(uid); → ;',
    because: 'it only frees memory: what is forgotten can be forgotten again',
  },
  ...[
    [
      'const conditions = request.status?.conditions ?? [];',
      'request.status?.conditions ?? [] → (request.status?.conditions)',
    ],
  ].map(([line = '', change = '']) => ({
    file: 'src/controllers/certificates/csr-signing.ts',
    line,
    change,
    because: 'what is approved has conditions',
  })),
  ...[["const byService = 'dns.service';", "'dns.service' → ''"]].map(([line = '', change = '']) => ({
    file: 'src/features/host-names/controller/dns.ts',
    line,
    change,
    because: 'the name of an index that only this file uses',
  })),
  ...[
    ['if (fingerprint === undefined) this.#fingerprints.delete(name);', 'fingerprint === undefined → false'],
  ].map(([line = '', change = '']) => ({
    file: 'src/features/host-names/controller/dns.ts',
    line,
    change,
    because: 'a Map gives undefined for what it does not have: it only saves memory',
  })),
  ...[
    ['const node = spec.nodeName ? this.#nodes.get(spec.nodeName) : undefined;', 'spec.nodeName → true'],
  ].map(([line = '', change = '']) => ({
    file: 'src/controllers/nodes/node-lifecycle.ts',
    line,
    change,
    because: 'there is no node without a name',
  })),
  ...[
    [
      'const silence = this.#heartbeats.silenceSince(this.#beatAt.get(name) ?? clock.now());',
      'this.#beatAt.get(name) ?? clock.now() → (this.#beatAt.get(name))',
    ],
  ].map(([line = '', change = '']) => ({
    file: 'src/controllers/nodes/node-lifecycle.ts',
    line,
    change,
    because: 'a node that is in the cache was seen, and that time is known',
  })),
  ...[['this.#warned.delete(uid);', 'this.#warned.delete(uid); → ;']].map(([line = '', change = '']) => ({
    file: 'src/controllers/nodes/node-lifecycle.ts',
    line,
    change,
    because: 'it only frees memory: no other node has its uid',
  })),
  ...[['if (!condition) return;', '!condition → false']].map(([line = '', change = '']) => ({
    file: 'src/controllers/nodes/node-lifecycle.ts',
    line,
    change,
    because: 'a pod that is ready has the condition',
  })),
  ...[
    [
      'Object.entries(sliceLabels).every(([key, value]) => metadata.labels?.[key] === value);',
      'Object.entries(sliceLabels).every(([key, value]) => metadata.labels?.[key] === value) → Object.entries(sliceLabels).some(([key, value]) => metadata.labels?.[key] === value)',
    ],
  ].map(([line = '', change = '']) => ({
    file: 'src/controllers/masters/masters.ts',
    line,
    change,
    because: 'there is one label',
  })),
  ...[["case 'none':", "'none' → ''"]].map(([line = '', change = '']) => ({
    file: 'src/controllers/masters/system-objects.ts',
    line,
    change,
    because: 'what is none of the others is this one; the compiler allows these four',
  })),
];
