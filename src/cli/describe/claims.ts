/** PersistentVolumeClaims, also as templates of a pod's own volumes. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';
import type { Describer } from './describer.ts';
import {
  amountText,
  conditionLines,
  goList,
  labelsAndAnnotations,
  listLines,
  optionalLine,
  sorted,
  stringsAt,
  terminatingLine,
} from './lines.ts';

export const persistentVolumeClaim: Describer = {
  needs: (object) => ({
    pods: { apiVersion: 'v1', kind: 'Pod', namespace: metadataOf(object).namespace },
  }),
  lines(claim, related, now) {
    const { name, namespace } = metadataOf(claim);
    const { items, refused } = related('pods');
    return [
      `Name:\t${name}`,
      `Namespace:\t${namespace}`,
      ...claimLines(claim, terminatingLine(claim, now) ?? `Status:\t${textAt(claim, 'status', 'phase')}`),
      ...(refused ? [`Used By:\t${refused}`] : listLines('Used By', sorted(usersOf(claim, items)))),
      ...conditionLines(
        claim,
        [
          ['Type', 'type'],
          ['Status', 'status'],
          ['LastProbeTime', 'lastProbeTime'],
          ['LastTransitionTime', 'lastTransitionTime'],
          ['Reason', 'reason'],
          ['Message', 'message'],
        ],
        ' ',
      ),
    ];
  },
};

/** Returns the names of pods that mount the claim or own it. */
function usersOf(claim: JsonObject, pods: readonly JsonObject[]): string[] {
  const { name } = metadataOf(claim);
  const owners = new Set(
    recordsAt(claim, 'metadata', 'ownerReferences')
      .filter(({ kind }) => kind === 'Pod')
      .map(({ uid }) => uid),
  );
  const mounts = (pod: JsonObject) =>
    recordsAt(pod, 'spec', 'volumes').some(
      (volume) => textAt(volume, 'persistentVolumeClaim', 'claimName') === name,
    );
  return pods
    .filter((pod) => mounts(pod) || owners.has(metadataOf(pod).uid))
    .map((pod) => metadataOf(pod).name);
}

/** Returns the lines of a claim, or of a template, which has neither a status nor finalizers. */
export function claimLines(claim: JsonObject, status?: string): string[] {
  const bound = textAt(claim, 'spec', 'volumeName');
  const source = recordAt(claim, 'spec', 'dataSource');
  return [
    `StorageClass:\t${storageClassOf(claim)}`,
    ...(status ? [status] : []),
    `Volume:\t${bound}`,
    ...labelsAndAnnotations(claim),
    ...(status ? [`Finalizers:\t${goList(stringsAt(claim, 'metadata', 'finalizers'))}`] : []),
    `Capacity:\t${bound ? amountText(valueAt(claim, 'status', 'capacity', 'storage')) : ''}`,
    `Access Modes:\t${bound ? accessModes(stringsAt(claim, 'status', 'accessModes')) : ''}`,
    ...optionalLine('VolumeMode', textAt(claim, 'spec', 'volumeMode')),
    ...(isRecord(valueAt(claim, 'spec', 'dataSource'))
      ? [
          'DataSource:',
          ...optionalLine('  APIGroup', textAt(source, 'apiGroup')),
          `  Kind:\t${textAt(source, 'kind')}`,
          `  Name:\t${textAt(source, 'name')}`,
        ]
      : []),
  ];
}

const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

/** Returns the storage class of a claim or a persistent volume; the old annotation has priority. */
export const storageClassOf = (object: JsonObject): string =>
  metadataOf(object).annotations[classAnnotation] ?? textAt(object, 'spec', 'storageClassName');

const shortModes: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** Returns access modes such as `RWO,ROX`, in kubectl's order. */
export const accessModes = (modes: readonly string[]): string =>
  shortModes
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
