/** Cell and event texts that PersistentVolumes and claims share. */
import type { ObjectMeta } from '../../../../apimachinery/meta.ts';

export const unset = '<unset>';

/** Annotation for the class of an object, from before the field existed. */
export const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

const shortModes = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const;

/** Returns modes such as `RWO,ROX`: each once, in upstream's order. */
export const modesText = (modes: readonly string[] | undefined) =>
  shortModes
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',');

interface Classed {
  readonly metadata: Pick<ObjectMeta, 'annotations'>;
  readonly spec: { readonly storageClassName?: string | undefined };
}

/** Returns undefined if no class is named; the empty text requests no class. */
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
