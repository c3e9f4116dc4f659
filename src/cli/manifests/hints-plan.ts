/**
 * Hints for errors whose words are Kubernetes' own: what to change in the manifest. The server's words stay,
 * because other clients compare them. Pure.
 */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { StatusError } from '../../apimachinery/status-error.ts';
import { nearest } from '../../terminal/nearest.ts';
import { recordsAt, textAt, valueAt } from '../objects/objects.ts';
import { type FieldCause, oneFieldOf, pathOf } from './manifest-faults-plan.ts';
import type { Path } from './manifests.ts';

interface Hint {
  /** Field that must be changed; empty for the whole object. */
  readonly path: Path;
  readonly text: string;
}

/** Returns the hint for one cause; undefined if it has none. `object` is the object of the manifest. */
type HintOf = (cause: FieldCause, object: JsonObject) => string | undefined;

/** Returns the hints for the server's error about `object`, one for each field and text. */
export function hintsFor({ status, message }: StatusError, object: JsonObject): Hint[] {
  const { reason, details } = status;
  const hints = causesOf(message, isRecord(details) ? details : {}).flatMap((cause) => {
    const text = rules.map((rule) => rule(cause, object)).find((hint) => hint !== undefined);
    return text === undefined ? [] : [{ path: pathOf(cause.field), text }];
  });
  if (reason === 'NotFound' && textAt(details, 'kind') === 'namespaces')
    hints.push({
      path: ['metadata', 'namespace'],
      text: `create the namespace first: minik8s ctl create namespace ${textAt(details, 'name')}`,
    });
  return hints.filter((hint, index) => hints.findIndex(({ text }) => text === hint.text) === index);
}

function causesOf(message: string, details: JsonObject): FieldCause[] {
  const causes = recordsAt(details, 'causes').map((cause) => ({
    field: textAt(cause, 'field'),
    message: textAt(cause, 'message'),
  }));
  const one = oneFieldOf(message);
  return one ? [...causes, one] : causes;
}

const plainText: HintOf = ({ field, message }, { kind }) => {
  if (!message.includes('illegal base64 data')) return undefined;
  const plain = kind === 'Secret' ? 'stringData' : kind === 'ConfigMap' ? 'data' : undefined;
  const [map] = pathOf(field);
  const other = plain === undefined ? '' : `; write plain text under ${plain}`;
  return `${map} takes base64, such as the output of base64 -w0${other}`;
};

/** Matches the volume's name in a mount or a device of a container, after the path of the pod's spec. */
const mountedVolume =
  /^(.*?)\.?(?:initContainers|containers|ephemeralContainers)\[\d+\]\.volume(?:Mounts|Devices)\[\d+\]\.name$/;

const volumes: HintOf = ({ field, message }, object) => {
  const [, spec] = mountedVolume.exec(field) ?? [];
  const [, wanted] = /^Not found: "(.*)"$/.exec(message) ?? [];
  if (spec === undefined || wanted === undefined) return undefined;
  const names = recordsAt(at(object, pathOf(spec)), 'volumes').map((volume) => textAt(volume, 'name'));
  if (names.length === 0) return `this pod has no volumes; define "${wanted}" under ${spec}.volumes`;
  const meant = nearest(wanted, names);
  const hint =
    meant.length > 0 ? `did you mean ${meant.join(' or ')}?` : `define "${wanted}" under ${spec}.volumes`;
  return `volumes of this pod: ${names.join(', ')}; ${hint}`;
};

const selectedLabels: HintOf = ({ message }, object) => {
  if (!/`selector` does not match template `labels`/.test(message)) return undefined;
  const selector = valueAt(object, 'spec', 'selector', 'matchLabels') ?? valueAt(object, 'spec', 'selector');
  if (!isRecord(selector)) return undefined;
  const wanted = labelsText(selector);
  if (wanted === undefined) return undefined;
  return `spec.template.metadata.labels must include the labels of the selector: {${wanted}}`;
};

const missingSelector: HintOf = ({ field, message }, object) => {
  if (field !== 'spec.selector' || !message.startsWith('Required value')) return undefined;
  const labels = labelsText(valueAt(object, 'spec', 'template', 'metadata', 'labels'));
  return labels === undefined
    ? 'give the template labels, and select them: selector: {matchLabels: {app: NAME}}'
    : `select the pods by the labels of the template: selector: {matchLabels: {${labels}}}`;
};

/** Returns the labels as YAML has them in braces; undefined if there are none. */
function labelsText(labels: unknown): string | undefined {
  if (!isRecord(labels)) return undefined;
  const pairs = Object.entries(labels).filter(([, value]) => typeof value === 'string');
  return pairs.length === 0 ? undefined : pairs.map(([key, value]) => `${key}: ${value}`).join(', ');
}

/** Kinds whose deletion also deletes data or other objects. */
const precious = new Set(['PersistentVolumeClaim', 'PersistentVolume', 'Namespace', 'StatefulSet']);

const replaced: HintOf = ({ message }, { kind }) => {
  const isFixed = /field is immutable|is immutable after creation|updates may not change fields other than/;
  if (!isFixed.test(message) || precious.has(String(kind))) return undefined;
  return 'this cannot be changed in place; minik8s ctl replace --force deletes the object and creates it again';
};

const endingPods: HintOf = ({ field, message }) =>
  field.endsWith('template.spec.restartPolicy') && /supported values: "Always"$/.test(message)
    ? 'pods that run to completion belong to a Job or a CronJob'
    : undefined;

const rules: readonly HintOf[] = [
  ...[plainText, volumes, missingSelector, selectedLabels, replaced, endingPods],
];

const at = (object: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, step) => (Array.isArray(value) ? value[Number(step)] : valueAt(value, String(step))),
    object,
  );
