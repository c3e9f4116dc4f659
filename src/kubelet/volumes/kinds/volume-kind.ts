/**
 * What a kind of volume is to the node agent. One file here and one line in index.ts make one: which volumes are of it, where they
 * lie, what they are made from and which steps make them. A kind that is attached, staged and published has a step for each.
 */

import type { Node } from '../../../api/core/v1/node.ts';
import type { Pod } from '../../../api/core/v1/pod.ts';
import type { Volume } from '../../../api/core/v1/types.gen.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Exec } from '../../../base/exec.ts';
import type { PodSources } from '../../environment/pod-sources.ts';
import type { AccountTokens } from '../account-tokens.ts';
import type { ClaimedVolumes } from '../claimed-volumes.ts';
import type { LocalVolumes } from '../local-volumes.ts';
import type { Shares } from '../shares.ts';

/** What steps work with. */
export interface VolumeTools {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly sources: Pick<PodSources, 'configMap' | 'secret' | 'version'>;
  readonly tokens: Pick<AccountTokens, 'get'>;
  readonly claims: Pick<ClaimedVolumes, 'find' | 'isShared' | 'of'>;
  readonly localVolumes: Pick<LocalVolumes, 'isOwn' | 'make'>;
  readonly shares: Pick<Shares, 'mount' | 'mountVolume'>;
  /** Where what is mounted for a pod lies: nothing below it is ever removed but mount points. */
  readonly mountsOf: (uid: string) => string;
  /** As it was read last; undefined before. */
  readonly node: () => Node | undefined;
  /** What pods may have of this node. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** Of it the memory, in bytes. */
  readonly allocatableMemory: number;
}

export interface VolumePlace {
  /** On this machine. */
  readonly path: string;
  /** No container may write into it. */
  readonly readOnly: boolean;
  /** Its files lie behind a link that changes (atomic-files.ts). */
  readonly isAtomic: boolean;
}

/** One volume of one pod. */
export interface PodVolume {
  readonly pod: Pod;
  readonly volume: Volume;
  readonly place: VolumePlace;
}

export interface VolumeStep {
  /** As messages call it, such as `MountVolume.SetUp`. */
  readonly operation: string;
  /**
   * Safe to repeat after it was cut off at any point, and without effect where all is as it should be. Resolves with when time
   * alone makes it due again, in milliseconds since the epoch; rejects with what its user is told.
   */
  run(tools: VolumeTools, of: PodVolume): Promise<number | undefined>;
}

export interface VolumeKind {
  has(volume: Volume): boolean;
  place(volume: Volume, podDirectory: string): VolumePlace;
  /** Where a volume of which the pod does not say it lies; `place` of it is not known. Rejects with VolumeError. */
  locate?(tools: VolumeTools, of: PodVolume): Promise<VolumePlace>;
  /** What the volume is made from, where that can change while the pod runs: another text means to make it again. */
  basis?(tools: VolumeTools, of: PodVolume): string;
  /** Whether it is whole, perhaps since an earlier run of this agent: then a pod can go on with it when a step fails. */
  isWhole?(place: VolumePlace): Promise<boolean>;
  readonly steps: readonly VolumeStep[];
}
