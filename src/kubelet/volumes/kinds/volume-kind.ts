/**
 * The contract of a kind of volume. One file here and one line in index.ts add a kind. The file defines which
 * volumes belong to the kind, their places on disk, their sources and the steps that make them. A kind whose
 * volumes are attached, staged and published has a step for each.
 */

import type { Node } from '../../../api/core/v1/node/node.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Volume } from '../../../api/core/v1/types.gen.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Exec } from '../../../os/exec.ts';
import type { PodCertificates } from '../../environment/pod-certificates.ts';
import type { PodSources } from '../../environment/pod-sources.ts';
import type { AccountTokens } from '../account-tokens.ts';
import type { ClaimedVolumes } from '../claimed-volumes.ts';
import type { LocalVolumes } from '../local-volumes.ts';
import type { Shares } from '../shares.ts';

/** Dependencies of the steps. */
export interface VolumeTools {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly sources: Pick<PodSources, 'configMap' | 'secret' | 'trustBundles' | 'version'>;
  readonly tokens: Pick<AccountTokens, 'get'>;
  readonly certificates: Pick<PodCertificates, 'get' | 'version'>;
  readonly claims: Pick<ClaimedVolumes, 'find' | 'isShared' | 'known' | 'of'>;
  readonly localVolumes: Pick<LocalVolumes, 'isOwn' | 'make'>;
  readonly shares: Pick<Shares, 'mount' | 'mountVolume'>;
  /** Directory of a pod's mounts; only mount points are ever removed below it. */
  readonly mountsOf: (uid: string) => string;
  /** This node's Node object as it was last read; undefined before the first read. */
  readonly node: () => Node | undefined;
  /** The node's allocatable resources. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** Allocatable memory, in bytes. */
  readonly allocatableMemory: number;
}

export interface VolumePlace {
  /** Path on this machine. */
  readonly path: string;
  /** True when no container may write into the volume. */
  readonly readOnly: boolean;
  /** True when the files are behind a symbolic link that changes atomically (atomic-files.ts). */
  readonly isAtomic: boolean;
}

/** One volume of one pod. */
export interface PodVolume {
  readonly pod: Pod;
  readonly volume: Volume;
  readonly place: VolumePlace;
}

export interface VolumeStep {
  /** Name of the step in messages, such as `MountVolume.SetUp`. */
  readonly operation: string;
  /**
   * Runs the step. It is safe to repeat after an interruption at any point, and has no effect where the
   * volume is already as it should be. Resolves with the time at which the step is due again even if nothing
   * changes, in milliseconds since the epoch; undefined for never. Rejects with an error whose message is
   * shown to the pod's owner.
   */
  run(tools: VolumeTools, of: PodVolume): Promise<number | undefined>;
}

export interface VolumeKind {
  has(volume: Volume): boolean;
  place(volume: Volume, podDirectory: string): VolumePlace;
  /**
   * Returns where the volume is when the pod's spec alone does not determine it; `place` then gives no path.
   * Rejects with VolumeError.
   */
  locate?(tools: VolumeTools, of: PodVolume): Promise<VolumePlace>;
  /**
   * Returns the path whose size is reported, without reading the disk; undefined for paths of the machine,
   * for devices, and for a volume that does not exist yet. Default: the path of `place`.
   */
  measured?(tools: VolumeTools, of: PodVolume): string | undefined;
  /**
   * Returns a text that describes the sources of the volume, where they can change while the pod runs: a
   * different text means that the volume must be made again.
   */
  basis?(tools: VolumeTools, of: PodVolume): string;
  /**
   * Returns true when the volume is complete, perhaps since an earlier run of this agent: then a pod can
   * continue with it when a step fails.
   */
  isWhole?(place: VolumePlace): Promise<boolean>;
  readonly steps: readonly VolumeStep[];
}
