/** Workloads that keep pods running. Pure. */
import { deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import {
  metadataOf,
  numberAt,
  podSelectorOf,
  recordAt,
  recordsAt,
  textAt,
  valueAt,
} from '../objects/objects.ts';
import { storageClassOf } from './claims.ts';
import type { Describer, Found, Need } from './describer.ts';
import {
  amountText,
  conditionLines,
  controlledByLines,
  createdLine,
  goList,
  labelLines,
  labelsAndAnnotations,
  none,
  pairsText,
  selectorText,
  shownAt,
  stringsAt,
} from './lines.ts';
import { podTemplateLines } from './pod-template.ts';

/** Returns the pods that the workload's selector matches. */
const podsOf = (object: JsonObject): Need => ({
  apiVersion: 'v1',
  kind: 'Pod',
  namespace: metadataOf(object).namespace,
  labelSelector: podSelectorOf(object),
});

const needsPods = (object: JsonObject) => ({ pods: podsOf(object) });

/** Returns how many of the workload's own pods are in each phase. */
function podsStatusLine(object: JsonObject, { items, refused }: Found): string {
  if (refused) return `Pods Status:\t${refused}`;
  const { uid } = metadataOf(object);
  const own = items.filter((pod) =>
    recordsAt(pod, 'metadata', 'ownerReferences').some(
      (owner) => owner.controller === true && owner.uid === uid,
    ),
  );
  const count = (phase: string) => own.filter((pod) => textAt(pod, 'status', 'phase') === phase).length;
  const phases = [
    `${count('Running')} Running`,
    `${count('Pending')} Waiting`,
    `${count('Succeeded')} Succeeded`,
    `${count('Failed')} Failed`,
  ];
  return `Pods Status:\t${phases.join(' / ')}`;
}

const templateOf = (object: JsonObject) => podTemplateLines(recordAt(object, 'spec', 'template'));
const selectorOf = (object: JsonObject) => selectorText(recordAt(object, 'spec', 'selector'));

const shortConditions = (object: JsonObject): string[] => {
  const [title, header, rule, ...rows] = conditionLines(object, [
    ['Type', 'type'],
    ['Status', 'status'],
    ['Reason', 'reason'],
  ]);
  if (title === undefined || header === undefined || rule === undefined) return [];
  // kubectl has a blank behind each type.
  return [title, header, rule, ...rows.map((row) => row.replace('\t', ' \t'))];
};

/** Returns the wanted replicas; the API's default if the field is missing. */
const wanted = (object: JsonObject) => valueAt(object, 'spec', 'replicas') ?? 1;

export const deployment: Describer = {
  needs: (object) => ({ replicaSets: { ...podsOf(object), apiVersion: 'apps/v1', kind: 'ReplicaSet' } }),
  lines(object, related) {
    const { name, namespace } = metadataOf(object);
    const of = (field: string) => numberAt(object, 'status', field);
    const rolling = recordAt(object, 'spec', 'strategy', 'rollingUpdate');
    const replicas = [
      `${wanted(object)} desired`,
      `${of('updatedReplicas')} updated`,
      `${of('replicas')} total`,
      `${of('availableReplicas')} available`,
      `${of('unavailableReplicas')} unavailable`,
    ];
    return [
      `Name:\t${name}`,
      `Namespace:\t${namespace}`,
      createdLine(object),
      ...labelsAndAnnotations(object),
      `Selector:\t${selectorOf(object)}`,
      `Replicas:\t${replicas.join(' | ')}`,
      `StrategyType:\t${textAt(object, 'spec', 'strategy', 'type')}`,
      `MinReadySeconds:\t${numberAt(object, 'spec', 'minReadySeconds')}`,
      ...(Object.keys(rolling).length > 0
        ? [
            `RollingUpdateStrategy:\t${shownAt(rolling, 'maxUnavailable')} max unavailable, ${shownAt(rolling, 'maxSurge')} max surge`,
          ]
        : []),
      ...templateOf(object),
      ...shortConditions(object),
      ...replicaSetLines(object, related('replicaSets')),
    ];
  },
};

/** Returns the replica sets of older templates, and the one of the current template. */
function replicaSetLines(object: JsonObject, { items, refused }: Found): string[] {
  if (refused) return [`ReplicaSets:\t${refused}`];
  const { uid } = metadataOf(object);
  const created = (set: JsonObject) => metadataOf(set).creationTimestamp ?? '';
  const own = items
    .filter((set) => recordsAt(set, 'metadata', 'ownerReferences').some((owner) => owner.uid === uid))
    .sort((a, b) => (created(a) < created(b) ? -1 : created(a) > created(b) ? 1 : 0));
  if (own.length === 0) return [];
  const current = own.find((set) => deepEqual(comparable(set), comparable(object)));
  const text = (sets: readonly JsonObject[]) =>
    sets
      .map((set) => {
        const replicas = `${numberAt(set, 'status', 'replicas')}/${wanted(set)} replicas created`;
        return `${metadataOf(set).name} (${replicas})`;
      })
      .join(', ') || none;
  return [
    `OldReplicaSets:\t${text(own.filter((set) => set !== current))}`,
    `NewReplicaSet:\t${text(current ? [current] : [])}`,
  ];
}

/** Returns the template without the label that distinguishes replica sets. */
function comparable(object: JsonObject): JsonObject {
  const template = recordAt(object, 'spec', 'template');
  const { 'pod-template-hash': _, ...labels } = recordAt(template, 'metadata', 'labels');
  return { ...template, metadata: { ...recordAt(template, 'metadata'), labels } };
}

export const replicaSet: Describer = {
  needs: needsPods,
  lines: (object, related) => replicaLines(object, related('pods'), selectorOf(object) || none),
};

export const replicationController: Describer = {
  needs: needsPods,
  lines: (object, related) =>
    replicaLines(object, related('pods'), pairsText(recordAt(object, 'spec', 'selector'))),
};

const replicaLines = (object: JsonObject, pods: Found, selector: string): string[] => [
  `Name:\t${metadataOf(object).name}`,
  `Namespace:\t${metadataOf(object).namespace}`,
  `Selector:\t${selector}`,
  ...labelsAndAnnotations(object),
  ...controlledByLines(object),
  `Replicas:\t${numberAt(object, 'status', 'replicas')} current / ${wanted(object)} desired`,
  podsStatusLine(object, pods),
  ...templateOf(object),
  ...shortConditions(object),
];

export const statefulSet: Describer = {
  needs: needsPods,
  lines(object, related) {
    const { name, namespace } = metadataOf(object);
    const rolling = recordAt(object, 'spec', 'updateStrategy', 'rollingUpdate');
    const most = shownAt(rolling, 'maxUnavailable');
    return [
      `Name:\t${name}`,
      `Namespace:\t${namespace}`,
      createdLine(object),
      `Selector:\t${selectorOf(object)}`,
      ...labelsAndAnnotations(object),
      `Replicas:\t${wanted(object)} desired | ${numberAt(object, 'status', 'replicas')} total`,
      `Update Strategy:\t${textAt(object, 'spec', 'updateStrategy', 'type')}`,
      ...(rolling.partition === undefined ? [] : [`  Partition:\t${shownAt(rolling, 'partition')}`]),
      ...(most && rolling.partition !== undefined ? [`  MaxUnavailable:\t${most}`] : []),
      podsStatusLine(object, related('pods')),
      ...templateOf(object),
      ...claimTemplateLines(recordsAt(object, 'spec', 'volumeClaimTemplates')),
    ];
  },
};

function claimTemplateLines(templates: readonly JsonObject[]): string[] {
  if (templates.length === 0) return [`Volume Claims:\t${none}`];
  return [
    'Volume Claims:',
    ...templates.flatMap((claim) => {
      const storage = valueAt(claim, 'spec', 'resources', 'requests', 'storage');
      return [
        `  Name:\t${metadataOf(claim).name}`,
        `  StorageClass:\t${storageClassOf(claim)}`,
        ...labelLines('Labels', recordAt(claim, 'metadata', 'labels'), '  '),
        ...labelLines('Annotations', recordAt(claim, 'metadata', 'annotations'), '  '),
        `  Capacity:\t${storage === undefined ? '<default>' : amountText(storage)}`,
        `  Access Modes:\t${goList(stringsAt(claim, 'spec', 'accessModes'))}`,
      ];
    }),
  ];
}

export const daemonSet: Describer = {
  needs: needsPods,
  lines(object, related) {
    const of = (field: string) => numberAt(object, 'status', field);
    return [
      `Name:\t${metadataOf(object).name}`,
      // kubectl leaves out the namespace, without which two sets of one name look alike with -A.
      `Namespace:\t${metadataOf(object).namespace}`,
      `Selector:\t${selectorOf(object)}`,
      `Node-Selector:\t${pairsText(recordAt(object, 'spec', 'template', 'spec', 'nodeSelector'))}`,
      ...labelsAndAnnotations(object),
      `Desired Number of Nodes Scheduled: ${of('desiredNumberScheduled')}`,
      `Current Number of Nodes Scheduled: ${of('currentNumberScheduled')}`,
      `Number of Nodes Scheduled with Up-to-date Pods: ${of('updatedNumberScheduled')}`,
      `Number of Nodes Scheduled with Available Pods: ${of('numberAvailable')}`,
      `Number of Nodes Misscheduled: ${of('numberMisscheduled')}`,
      podsStatusLine(object, related('pods')),
      ...templateOf(object),
    ];
  },
};
