/**
 * ConversionReviews: the request for a webhook, and the checks of its answer (upstream:
 * apiextensions-apiserver/pkg/apiserver/conversion). Pure.
 */
import {
  type ConversionReviewVersion,
  conversionReviewVersions,
} from '../../../api/apiextensions/v1/conversion-causes.ts';
import { deepEqual, isRecord, type JsonObject } from '../../../apimachinery/equality.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateAnnotations, validateLabels } from '../../../apimachinery/validate-meta.ts';

/** Answer of a webhook that cannot be used. The message has upstream's words. */
export class WrongConversion extends Error {
  override readonly name = 'WrongConversion';
}

export interface ConversionRequest {
  readonly uid: string;
  readonly version: ConversionReviewVersion;
  /** The apiVersion into which the objects are converted. */
  readonly desired: string;
  readonly objects: readonly KubeObject[];
}

/** Returns the first version in the webhook's list that this server supports. */
export const reviewVersionIn = (versions: readonly string[]): ConversionReviewVersion | undefined => {
  for (const version of versions) {
    const known = conversionReviewVersions.find((one) => one === version);
    if (known) return known;
  }
  return undefined;
};

/** Returns the text of an object's kind, as Go writes it. */
export const kindText = ({ apiVersion, kind }: { readonly apiVersion?: unknown; readonly kind?: unknown }) =>
  `${textOf(apiVersion)}, Kind=${textOf(kind)}`;

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

export function conversionReview({ uid, version, desired, objects }: ConversionRequest): string {
  return JSON.stringify({
    kind: 'ConversionReview',
    apiVersion: `apiextensions.k8s.io/${version}`,
    request: { uid, desiredAPIVersion: desired, objects },
  });
}

/** Returns the converted objects, in the order of the request. Throws WrongConversion. */
export function readConversion(text: string, request: ConversionRequest): KubeObject[] {
  const [first] = request.objects;
  const webhook = `conversion webhook for ${kindText(first ?? {})}`;
  const converted = answered(webhook, text, request);
  const { length } = request.objects;
  if (converted.length !== length)
    throw new WrongConversion(`${webhook} returned ${converted.length} objects, expected ${length}`);
  return request.objects.map((object, index) =>
    checked(object, converted[index], request.desired, {
      webhook,
      // Upstream words the problems of one object and of an object of several differently.
      invalid: length === 1 ? 'object at index 0' : `converted object at index ${index}`,
      inside: length === 1 ? 'object' : `converted object at index ${index}`,
      metadata: length === 1 ? 'metadata' : `metadata in object at index ${index}`,
    }),
  );
}

/** Returns the list of objects of a successful answer. */
function answered(webhook: string, text: string, { version, uid }: ConversionRequest): readonly unknown[] {
  const failed = (why: string) => new WrongConversion(`${webhook} failed: ${why}`);
  const review = parsed(text, failed);
  const { response } = review;
  const expected = `apiextensions.k8s.io/${version}, Kind=ConversionReview`;
  if (version === 'v1' && kindText(review) !== expected)
    throw failed(`expected webhook response of ${expected}, got ${kindText(review)}`);
  if (!isRecord(response)) throw failed('no response provided');
  const got = textOf(response.uid);
  if (version === 'v1' && got !== uid)
    throw failed(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(got)}`);
  const result = isRecord(response.result) ? response.result : {};
  const status = textOf(result.status);
  if (status !== 'Success')
    throw failed(textOf(result.message) || `response.result.status was '${status}', not 'Success'`);
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
}

function parsed(text: string, failed: (why: string) => WrongConversion): JsonObject {
  const unreadable = (why: string) => failed(`couldn't get version/kind; json parse error: ${why}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error));
  }
  if (!isRecord(value)) throw unreadable('not an object');
  return value;
}

interface Words {
  readonly webhook: string;
  readonly invalid: string;
  readonly inside: string;
  readonly metadata: string;
}

/** Returns a converted object with the metadata of the original, except labels and annotations. */
function checked(
  original: KubeObject,
  converted: unknown,
  desired: string,
  { webhook, invalid, inside, metadata }: Words,
): KubeObject {
  const wrong = (where: string, why: string) =>
    new WrongConversion(`${webhook} returned invalid ${where}: ${why}`);
  if (!isRecord(converted)) throw wrong(invalid, 'an object was expected');
  const { apiVersion, kind } = converted;
  if (apiVersion !== desired)
    throw wrong(invalid, `invalid groupVersion (expected ${desired}, received ${textOf(apiVersion)})`);
  if (kind !== original.kind)
    throw wrong(invalid, `invalid kind (expected ${original.kind}, received ${textOf(kind)})`);
  const changed = identityProblem(original, isRecord(converted.metadata) ? converted.metadata : {});
  if (changed) throw wrong(inside, changed);
  const meta = restoredMetadata(original, converted.metadata, (why) => wrong(metadata, why));
  return { ...converted, apiVersion: desired, kind: original.kind, metadata: meta };
}

const identity = { name: 'name', namespace: 'namespace', uid: 'UID' } as const;

function identityProblem({ metadata }: KubeObject, converted: JsonObject): string | undefined {
  for (const [field, word] of Object.entries(identity)) {
    const before = metadata[field as keyof typeof identity] ?? '';
    const after = textOf(converted[field]);
    if (before !== after) return `must have the same ${word}: ${before} != ${after}`;
  }
  return undefined;
}

function restoredMetadata(
  original: KubeObject,
  converted: unknown,
  wrong: (why: string) => WrongConversion,
): KubeObject['metadata'] {
  if (converted === undefined) throw wrong('missing metadata in converted object');
  if (!isRecord(converted)) throw wrong('invalid metadata of another type in converted object');
  const { labels, annotations, ...kept } = original.metadata;
  const own = { labels, annotations };
  const restored: KubeObject['metadata'] = { ...kept };
  for (const field of ['labels', 'annotations'] as const) {
    const texts = textsOf(converted[field], field, wrong);
    if (!texts) continue;
    const problems = deepEqual(texts, own[field] ?? {}) ? [] : checks[field](texts);
    if (problems.length > 0) throw wrong(problems.map(shown).join(', '));
    restored[field] = texts;
  }
  return restored;
}

/** Upstream names the annotations in the singular. */
const checks = {
  labels: (texts: Record<string, string>) => validateLabels(texts, 'metadata.labels'),
  annotations: (texts: Record<string, string>) => validateAnnotations(texts, 'metadata.annotation'),
};

const shown = ({ field, message }: StatusCause) => `${field}: ${message}`;

function textsOf(
  value: unknown,
  field: string,
  wrong: (why: string) => WrongConversion,
): Record<string, string> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) throw wrong(`invalid metadata.${field} of another type in converted object`);
  for (const [key, text] of Object.entries(value))
    if (typeof text !== 'string')
      throw wrong(`metadata.${field}[${key}] must be a string, but is ${typeof text} in converted object`);
  return value as Record<string, string>;
}
