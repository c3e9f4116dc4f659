/** Answers of webhooks (upstream: admission/plugin/webhook/request). */
import { isRecord, type JsonObject } from '../../../apimachinery/equality.ts';
import { parseJson } from '../../../apimachinery/json-decode.ts';
import { type Patch, patchTypes, readPatch } from '../../../apimachinery/patch.ts';
import { newInternalError, StatusError } from '../../../apimachinery/status-error.ts';
import { denial } from './refusals.ts';
import type { ReviewVersion } from './review.ts';

/** Answer that is no valid review. The webhook has failed, so its failure policy applies. */
export class InvalidAnswer extends Error {
  override readonly name = 'InvalidAnswer';
}

export interface Expected {
  readonly webhook: string;
  readonly version: ReviewVersion;
  readonly uid: string;
  readonly mutates: boolean;
  /** Receives the warnings of the webhook, even if it rejects the request. */
  readonly warn: (text: string) => void;
}

/**
 * Returns the patch of the answer. Throws the StatusError of a request that the webhook rejects, and
 * InvalidAnswer for an answer that is no review of this request.
 */
export function readAnswer(text: string, expected: Expected): Patch | undefined {
  const review = parsed(text);
  const { response } = review;
  if (!isRecord(response)) throw invalid('webhook response was absent');
  if (expected.version === 'v1') checkIdentity(review, response, expected.uid);
  const patch = patchOf(response, expected);
  for (const warning of listOfTexts(response.warnings)) expected.warn(warning);
  if (response.allowed !== true) throw denial(expected.webhook, response.status);
  return patch === undefined ? undefined : readWebhookPatch(patch);
}

const invalid = (why: string) => new InvalidAnswer(`received invalid webhook response: ${why}`);

function parsed(text: string): JsonObject {
  try {
    const { value } = parseJson(text, false);
    if (isRecord(value)) return value;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new InvalidAnswer(
      `failed to call webhook: couldn't get version/kind; json parse error: ${error.message}`,
    );
  }
  throw new InvalidAnswer(
    "failed to call webhook: couldn't get version/kind; json parse error: not an object",
  );
}

const listOfTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

function checkIdentity({ apiVersion, kind }: JsonObject, response: JsonObject, uid: string): void {
  const got = typeof response.uid === 'string' ? response.uid : '';
  if (got !== uid) throw invalid(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(got)}`);
  if (apiVersion === 'admission.k8s.io/v1' && kind === 'AdmissionReview') return;
  const expected = 'admission.k8s.io/v1, Kind=AdmissionReview';
  throw invalid(`expected webhook response of ${expected}, got ${textOf(apiVersion)}, Kind=${textOf(kind)}`);
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** Returns the patch in base64, or undefined. Throws InvalidAnswer if patch and type do not fit together. */
function patchOf(response: JsonObject, { version, mutates }: Expected): string | undefined {
  const patch = textOf(response.patch);
  const type = response.patchType ?? undefined;
  if (version === 'v1') {
    const problem = mutates ? typeProblem(patch, type) : noPatchProblem(patch, type);
    if (problem) throw problem;
  }
  return mutates && patch ? patch : undefined;
}

function noPatchProblem(patch: string, type: unknown): InvalidAnswer | undefined {
  if (patch) return invalid('validating webhook may not return response.patch');
  return type === undefined ? undefined : invalid('validating webhook may not return response.patchType');
}

function typeProblem(patch: string, type: unknown): InvalidAnswer | undefined {
  if (type === undefined)
    return patch ? invalid('webhook returned response.patch but not response.patchType') : undefined;
  if (!patch) return invalid('webhook returned response.patchType but not response.patch');
  if (type === '') return invalid('webhook returned invalid response.patchType of ""');
  return type === 'JSONPatch'
    ? undefined
    : new InvalidAnswer(`unsupported patch type ${JSON.stringify(type)}`);
}

function readWebhookPatch(base64: string): Patch | undefined {
  try {
    const text = Buffer.from(base64, 'base64').toString();
    const patch = readPatch(text, patchTypes.json, [patchTypes.json]);
    return patch.kind === 'json' && patch.operations.length === 0 ? undefined : patch;
  } catch (error) {
    throw error instanceof StatusError ? newInternalError(error.message) : error;
  }
}
