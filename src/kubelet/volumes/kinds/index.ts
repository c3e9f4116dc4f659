/** The list of supported kinds of volumes; a new kind is added here. */
import type { Volume } from '../../../api/core/v1/types.gen.ts';
import { claim } from './claim.ts';
import { emptyDir } from './empty-dir.ts';
import { hostPath } from './host-path.ts';
import { nfs } from './nfs.ts';
import { projected } from './projected.ts';
import type { VolumeKind } from './volume-kind.ts';

const kinds: readonly VolumeKind[] = [projected, hostPath, claim, nfs, emptyDir];

/** Returns undefined for a volume of a kind that is not supported. */
export const kindOf = (volume: Volume): VolumeKind | undefined => kinds.find((kind) => kind.has(volume));
