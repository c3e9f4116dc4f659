/** Texts that PersistentVolumes and their claims print, and say, alike. */
import type { ObjectMeta } from '../../../apimachinery/meta.ts';

export const unset = '<unset>';

/** The class of an object stood here before there was a field for it. */
export const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

const shortModes = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const;

/** `RWO,ROX`: each once, in upstream's order. */
export const modesText = (modes: readonly string[] | undefined) =>
  shortModes
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',');

interface Classed {
  readonly metadata: Pick<ObjectMeta, 'annotations'>;
  readonly spec: { readonly storageClassName?: string | undefined };
}

/** Undefined where no class is named; the empty text asks for none. */
export const classNameOf = ({ metadata, spec }: Classed): string | undefined =>
  metadata.annotations?.[classAnnotation] ?? spec.storageClassName;

export const className = (object: Classed) => classNameOf(object) ?? '';

export const phaseText = ({ deletionTimestamp }: ObjectMeta, phase: string | undefined) =>
  deletionTimestamp ? 'Terminating' : (phase ?? '');

export const classWarnings = ({ annotations }: ObjectMeta): string[] =>
  annotations?.[classAnnotation] === undefined
    ? []
    : [
        `metadata.annotations[${classAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`,
      ];
