/** Persistent volumes and the classes of storage. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';
import { accessModes, storageClassOf } from './claims.ts';
import type { Describer } from './describer.ts';
import { booleanText } from './jobs.ts';
import {
  amountText,
  createdLine,
  goList,
  headLines,
  labelsAndAnnotations,
  listLines,
  none,
  optionalLine,
  pairsText,
  shownAt,
  stringsAt,
  terminatingLine,
} from './lines.ts';
import { sourceLines } from './volumes.ts';

export const persistentVolume: Describer = {
  lines(object, _related, now) {
    const spec = recordAt(object, 'spec');
    const claim = recordAt(spec, 'claimRef');
    return [
      `Name:\t${metadataOf(object).name}`,
      ...labelsAndAnnotations(object),
      `Finalizers:\t${goList(stringsAt(object, 'metadata', 'finalizers'))}`,
      `StorageClass:\t${storageClassOf(object)}`,
      terminatingLine(object, now) ?? `Status:\t${textAt(object, 'status', 'phase')}`,
      `Claim:\t${claim.name ? `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}` : ''}`,
      `Reclaim Policy:\t${textAt(spec, 'persistentVolumeReclaimPolicy')}`,
      `Access Modes:\t${accessModes(stringsAt(spec, 'accessModes'))}`,
      ...optionalLine('VolumeMode', textAt(spec, 'volumeMode')),
      `Capacity:\t${amountText(valueAt(spec, 'capacity', 'storage'))}`,
      ...affinityLines(spec),
      `Message:\t${textAt(object, 'status', 'message')}`,
      'Source:',
      ...sourceLines(sourceOf(spec)),
    ];
  },
};

/** Fields of a volume's spec that are no source. */
const notSources = ['claimRef', 'capacity', 'nodeAffinity'];

const sourceOf = (spec: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(spec).filter(([field]) => !notSources.includes(field)));

function affinityLines(spec: JsonObject): string[] {
  const required = valueAt(spec, 'nodeAffinity', 'required');
  if (!isRecord(required)) return [`Node Affinity:\t${none}`];
  const terms = recordsAt(required, 'nodeSelectorTerms');
  return [
    'Node Affinity:\t',
    `  Required Terms:\t${terms.length === 0 ? none : ''}`,
    ...terms.flatMap((term, index) => {
      const texts = recordsAt(term, 'matchExpressions').map((one) => {
        const values = stringsAt(one, 'values');
        const list = values.length > 0 ? ` [${values.join(', ')}]` : '';
        return `${textAt(one, 'key')} ${textAt(one, 'operator').toLowerCase()}${list}`;
      });
      return listLines(`Term ${index}`, texts, '    ');
    }),
  ];
}

export const storageClass: Describer = {
  lines(object) {
    const { annotations } = metadataOf(object);
    const isDefault = ['', 'beta.']
      .map((part) => annotations[`storageclass.${part}kubernetes.io/is-default-class`])
      .includes('true');
    const options = stringsAt(object, 'mountOptions');
    return [
      `Name:\t${metadataOf(object).name}`,
      `IsDefaultClass:\t${isDefault ? 'Yes' : 'No'}`,
      `Annotations:\t${pairsText(annotations)}`,
      `Provisioner:\t${textAt(object, 'provisioner')}`,
      `Parameters:\t${pairsText(recordAt(object, 'parameters'))}`,
      `AllowVolumeExpansion:\t${booleanText(object.allowVolumeExpansion)}`,
      ...(options.length === 0
        ? [`MountOptions:\t${none}`]
        : ['MountOptions:', ...options.map((option) => `  ${option}`)]),
      ...optionalLine('ReclaimPolicy', textAt(object, 'reclaimPolicy')),
      ...optionalLine('VolumeBindingMode', textAt(object, 'volumeBindingMode')),
      ...topologyLines(object),
    ];
  },
};

function topologyLines(object: JsonObject): string[] {
  if (!Array.isArray(object.allowedTopologies)) return [];
  const terms = recordsAt(object, 'allowedTopologies');
  return [
    `AllowedTopologies:\t${terms.length === 0 ? none : ''}`,
    ...terms.flatMap((term, index) =>
      listLines(
        `Term ${index}`,
        recordsAt(term, 'matchLabelExpressions').map(
          (one) => `${textAt(one, 'key')} in [${stringsAt(one, 'values').join(', ')}]`,
        ),
        '  ',
      ),
    ),
  ];
}

export const csiNode: Describer = {
  lines: (object) => [
    ...headLines(object, { namespaced: false }),
    createdLine(object),
    'Spec:',
    ...(Array.isArray(valueAt(object, 'spec', 'drivers')) ? ['  Drivers:'] : []),
    ...recordsAt(object, 'spec', 'drivers').flatMap((driver) => [
      `    ${textAt(driver, 'name')}:`,
      `      Node ID:\t${textAt(driver, 'nodeID')}`,
      ...(shownAt(driver, 'allocatable', 'count')
        ? ['      Allocatables:', `        Count:\t${shownAt(driver, 'allocatable', 'count')}`]
        : []),
      ...(Array.isArray(driver.topologyKeys)
        ? [`      Topology Keys:\t${goList(stringsAt(driver, 'topologyKeys'))}`]
        : []),
    ]),
  ],
};
