/** Equivalent mutants of volumes, budgets and DaemonSets. */
import type { Equivalent } from '../equivalent.ts';

const of = (name: string, because: string, ...lines: [line: string, change: string][]): Equivalent[] =>
  lines.map(([line, change]) => ({ file: `src/controllers/${name}`, line, change, because }));

export const volumes: readonly Equivalent[] = [
  ...of(
    'disruption/disruption-plan.ts',
    'one of both is said where this is asked',
    ['? resolveCount(minAvailable ?? 0, scale.expected, Math.ceil)', '0 → 1'],
    ['? resolveCount(minAvailable ?? 0, scale.expected, Math.ceil)', 'minAvailable ?? 0 → (minAvailable)'],
  ),
  ...of(
    'disruption/disruption-plan.ts',
    'every pod and every claim has a namespace',
    ["const scale = scaleOf(owner, pod.metadata.namespace ?? '');", "'' → 'mutated'"],
    [
      "const scale = scaleOf(owner, pod.metadata.namespace ?? '');",
      "pod.metadata.namespace ?? '' → (pod.metadata.namespace)",
    ],
  ),
  ...of(
    'disruption/disruption-plan.ts',
    'it saves work: a controller that is asked again says the same',
    ['else if (!known.has(owner.uid)) {', '!known.has(owner.uid) → true'],
    ['known.add(owner.uid);', 'known.add(owner.uid); → ;'],
  ),
  ...of('disruption/disruption-plan.ts', 'the server takes no budget with both', [
    "if (maxUnavailable === undefined && typeof minAvailable === 'number')",
    "maxUnavailable === undefined && typeof minAvailable === 'number' → (typeof minAvailable === 'number')",
  ]),
  ...of('disruption/stale-disruption.ts', 'it has the condition for which it is looked at', [
    'for (const condition of changed.status?.conditions ?? []) {',
    'changed.status?.conditions ?? [] → (changed.status?.conditions)',
  ]),
  ...of('disruption/stale-disruption.ts', 'of no pod there is nothing to wait for', [
    'if (!pod || wait === undefined) return undefined;',
    '!pod || wait === undefined → (wait === undefined)',
  ]),
  ...of(
    'disruption/stale-disruption.ts',
    'neither is a time',
    [
      "return Math.max(0, Date.parse(condition.lastTransitionTime ?? '') + staleAfterMs - now) || 0;",
      "'' → 'mutated'",
    ],
    [
      "return Math.max(0, Date.parse(condition.lastTransitionTime ?? '') + staleAfterMs - now) || 0;",
      "condition.lastTransitionTime ?? '' → (condition.lastTransitionTime)",
    ],
  ),
  ...of('volumes/chore-node.ts', 'no node is without a name', [
    'if (known !== undefined && suiting.some(({ metadata }) => metadata.name === known)) return { node: known };',
    'known !== undefined && suiting.some(({ metadata }) => metadata.name === known) → (suiting.some(({ metadata }) => metadata.name === known))',
  ]),
  ...of(
    'volumes/claim-users.ts',
    'who asks next begins only when this has run; what stays is a promise that has ended',
    [
      'if (this.#running.get(namespace) === running) this.#running.delete(namespace);',
      'this.#running.get(namespace) === running → false',
    ],
    [
      'if (this.#running.get(namespace) === running) this.#running.delete(namespace);',
      'this.#running.get(namespace) === running → true',
    ],
  ),
  ...of(
    'volumes/ephemeral-volume.ts',
    'what is not defined is not sent',
    ['...(annotations && { annotations }),', 'annotations && { annotations } → ({ annotations })'],
    ['...(labels && { labels }),', 'labels && { labels } → ({ labels })'],
  ),
  ...of('volumes/ephemeral-volume.ts', 'what is not defined is false there, too', [
    'const isEphemeral = (pod: Pod) => pod.spec.volumes?.some(({ ephemeral }) => ephemeral) ?? false;',
    'pod.spec.volumes?.some(({ ephemeral }) => ephemeral) ?? false → (pod.spec.volumes?.some(({ ephemeral }) => ephemeral))',
  ]),
  ...of(
    'volumes/ephemeral-volume.ts',
    'an ephemeral volume has a claim',
    ["const name = claimNameOf(pod, volume) ?? '';", "'' → 'mutated'"],
    [
      "const name = claimNameOf(pod, volume) ?? '';",
      "claimNameOf(pod, volume) ?? '' → (claimNameOf(pod, volume))",
    ],
  ),
  ...of('volumes/ephemeral-volume.ts', 'every pod and every claim has a namespace', [
    "const { namespace = '' } = pod.metadata;",
    "'' → 'mutated'",
  ]),
  ...of('volumes/expand.ts', 'the server takes no claim that asks for no storage', [
    "const requestOf = ({ spec }: PersistentVolumeClaim) => spec.resources.requests?.storage ?? '0';",
    "'0' → ''",
  ]),
  ...of(
    'volumes/expand.ts',
    'no volume has the other name',
    ["const volume = claim && volumes.get(claim.spec.volumeName ?? '');", "'' → 'mutated'"],
    [
      "const volume = claim && volumes.get(claim.spec.volumeName ?? '');",
      "claim.spec.volumeName ?? '' → (claim.spec.volumeName)",
    ],
  ),
  ...of(
    'volumes/persistent-volume-binder.ts',
    'what is none of the others is this one; the compiler allows no more',
    ["case 'none':", "'none' → ''"],
  ),
  ...of(
    'volumes/persistent-volume-binder.ts',
    'an index may have any name that no other has',
    ["const byVolume = 'claims by volume';", "'claims by volume' → ''"],
    ["const pendingByClass = 'pending claims by class';", "'pending claims by class' → ''"],
  ),
  ...of(
    'volumes/persistent-volume-binder.ts',
    'only volumes with a claim come here',
    ["const cached = this.#claims.get(claimKeyOf(volume) ?? '');", "'' → 'mutated'"],
    [
      "const cached = this.#claims.get(claimKeyOf(volume) ?? '');",
      "claimKeyOf(volume) ?? '' → (claimKeyOf(volume))",
    ],
    ["const claim = this.#claims.get(claimKeyOf(volume) ?? '');", "'' → 'mutated'"],
    [
      "const claim = this.#claims.get(claimKeyOf(volume) ?? '');",
      "claimKeyOf(volume) ?? '' → (claimKeyOf(volume))",
    ],
  ),
  ...of(
    'volumes/persistent-volume-binder.ts',
    'a reference to a claim with a uid has a name',
    [
      "const found = await ifPresent(this.#claimsClient.get(claimRef.name ?? '', claimRef.namespace));",
      "'' → 'mutated'",
    ],
    [
      "const found = await ifPresent(this.#claimsClient.get(claimRef.name ?? '', claimRef.namespace));",
      "claimRef.name ?? '' → (claimRef.name)",
    ],
  ),
  ...of(
    'volumes/persistent-volume-binder.ts',
    'one that was bound and names no volume is lost, and does not come here',
    [
      'const isWritten = claim.spec.volumeName && claim.metadata.annotations?.[bindCompleted] !== undefined;',
      'claim.spec.volumeName && claim.metadata.annotations?.[bindCompleted] !== undefined → (claim.metadata.annotations?.[bindCompleted] !== undefined)',
    ],
  ),
  ...of('volumes/persistent-volume-binder.ts', 'it saves work: no volume of a class fits a claim of none', [
    "const waiting = [wanted, ...(wanted === '' ? [unclassed] : [])]",
    "wanted === '' → true",
  ]),
  ...of(
    'volumes/persistent-volume-binder.ts',
    'it saves work: nobody is left, or nothing',
    ['if (taken.size === free.length) break;', 'taken.size === free.length → false'],
    ['if (waiting.length === 0) return;', 'waiting.length === 0 → false'],
  ),
  ...of('volumes/persistent-volume-binder.ts', 'what is not defined is not sent', [
    'status: { ...status, phase, ...(message && { message }) },',
    'message && { message } → ({ message })',
  ]),
  ...of(
    'volumes/persistent-volume-binder.ts',
    'it frees memory: another volume of the name has another uid',
    [
      'volumeInformer.addEventHandler({ onDelete: ({ metadata }) => this.#written.forget(metadata.name) });',
      'volumeInformer.addEventHandler({ onDelete: ({ metadata }) => this.#written.forget(metadata.name) }); → ;',
    ],
  ),
  ...of('volumes/pods-by-claim.ts', 'an index may have any name that no other has', [
    "export const podsByClaim = 'pods by claim';",
    "'pods by claim' → ''",
  ]),
  ...of(
    'volumes/provision-plan.ts',
    'the server takes no claim that asks for no storage',
    ["capacity: { storage: claim.spec.resources.requests?.storage ?? '0' },", "'0' → ''"],
    [
      "capacity: { storage: claim.spec.resources.requests?.storage ?? '0' },",
      "claim.spec.resources.requests?.storage ?? '0' → (claim.spec.resources.requests?.storage)",
    ],
  ),
  ...of('volumes/pv-protection.ts', 'what is not defined is false there, too', [
    'const isProtected = volume.metadata.finalizers?.includes(volumeProtection) ?? false;',
    'volume.metadata.finalizers?.includes(volumeProtection) ?? false → (volume.metadata.finalizers?.includes(volumeProtection))',
  ]),
  ...of(
    'volumes/pvc-protection.ts',
    'what is not defined is false there, too',
    [
      'const isProtected = claim.metadata.finalizers?.includes(claimProtection) ?? false;',
      'claim.metadata.finalizers?.includes(claimProtection) ?? false → (claim.metadata.finalizers?.includes(claimProtection))',
    ],
    [
      'return users.get(objectKey(claim))?.some((pod) => uses(pod, claim)) ?? false;',
      'users.get(objectKey(claim))?.some((pod) => uses(pod, claim)) ?? false → (users.get(objectKey(claim))?.some((pod) => uses(pod, claim)))',
    ],
  ),
  ...of(
    'volumes/pvc-protection.ts',
    'every pod and every claim has a namespace',
    ["const users = await live.of(claim.metadata.namespace ?? '');", "'' → 'mutated'"],
    [
      "const users = await live.of(claim.metadata.namespace ?? '');",
      "claim.metadata.namespace ?? '' → (claim.metadata.namespace)",
    ],
  ),
  ...of('volumes/pvc-protection.ts', 'the users of a claim are looked up by its namespace and name', [
    'if (!pod.spec.nodeName || pod.metadata.namespace !== claim.metadata.namespace) return false;',
    '!pod.spec.nodeName || pod.metadata.namespace !== claim.metadata.namespace → (!pod.spec.nodeName)',
  ]),
  ...of('volumes/pvc-protection.ts', 'only pods with a claim come here', [
    'return (pod.spec.volumes ?? []).some(',
    'pod.spec.volumes ?? [] → (pod.spec.volumes)',
  ]),
  ...of('volumes/pvc-protection.ts', 'how many are looked at at a time changes only how long it takes', [
    'workers: 32,',
    '32 → 33',
  ]),
  ...of(
    'volumes/recycle-plan.ts',
    'what is none of the others is this one; the compiler allows no more',
    ["? { kind: 'none' }", "'none' → ''"],
    [
      "if (!isToBeEmptied(volume) || (known === undefined && !claimRef?.uid)) return { kind: 'none' };",
      "'none' → ''",
    ],
    ["if (volume.status?.reason !== stuckReason) return { kind: 'none' };", "'none' → ''"],
  ),
  ...of('volumes/recycle-plan.ts', 'nothing is taken out of nothing', [
    'const { [nodeLabel]: _, ...labels } = metadata.labels ?? {};',
    'metadata.labels ?? {} → (metadata.labels)',
  ]),
  ...of('volumes/recycle-plan.ts', 'the status is not written with it', [
    'return { ...volume, metadata: { ...metadata, labels }, spec };',
    '...volume, → (nothing)',
  ]),
  ...of('volumes/volume-plan.ts', 'what is none of the others is this one; the compiler allows no more', [
    "if (isBeingEmptied(volume)) return { kind: 'none' };",
    "'none' → ''",
  ]),
  ...of('volumes/volume-provisioner.ts', 'whether a volume that stays has its node is not looked at', [
    ': true;',
    'true → false',
  ]),
  ...of(
    'volumes/volume-provisioner.ts',
    'what is none of the others is this one; the compiler allows no more',
    ["case 'none':", "'none' → ''"],
  ),
  ...of(
    'volumes/volume-provisioner.ts',
    'an index may have any name that no other has',
    ["const byClass = 'unbound claims by class';", "'unbound claims by class' → ''"],
    ["const byNode = 'unbound claims by chosen node';", "'unbound claims by chosen node' → ''"],
    ["const foldersToRemove = 'folders of shares to be removed';", "'folders of shares to be removed' → ''"],
    ["const volumesByNode = 'volumes by node';", "'volumes by node' → ''"],
  ),
  ...of(
    'volumes/volume-provisioner.ts',
    'no node is without a name, and nothing is taken out of nothing',
    [
      'const node = chosen === undefined ? undefined : this.#nodes.get(chosen);',
      'chosen === undefined → false',
    ],
    [
      'const { [selectedNode]: _, ...annotations } = claim.metadata.annotations ?? {};',
      'claim.metadata.annotations ?? {} → (claim.metadata.annotations)',
    ],
  ),
  ...of('volumes/volume-recycler.ts', 'what is none of the others is this one; the compiler allows no more', [
    "case 'none':",
    "'none' → ''",
  ]),
  ...of('volumes/volume-recycler.ts', 'an index may have any name that no other has', [
    "const toBeEmptied = 'volumes to be emptied';",
    "'volumes to be emptied' → ''",
  ]),
  ...of('workloads/daemons/daemon-set-plan.ts', 'only the order counts', [
    `\`\${spec.nodeName ? 0 : 1} \${metadata.creationTimestamp} \${metadata.name}\`;`,
    '1 → 2',
  ]),
  ...of('workloads/daemons/daemon-set-plan.ts', 'what becomes of it is asked by phase again', [
    'if (stay) ended.push(...living.filter(isPodTerminal).map((pod) => ({ pod, node })));',
    'living.filter(isPodTerminal) → living',
  ]),
  ...of(
    'workloads/daemons/daemon-set-plan.ts',
    'it saves work: of one or none nothing is too many',
    ['if (running.length <= 1) return [];', 'running.length <= 1 → false'],
    ['if (running.length <= 1) return [];', 'running.length <= 1 → running.length < 1'],
  ),
];
