/**
 * The versions of a custom kind whose objects a webhook converts. As upstream, an object is brought in line
 * with the schema of the version that it is in, converted, and pruned by the schema of the other version.
 */
import type { CustomResourceDefinition } from '../../../api/apiextensions/v1/custom-resource-definition.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ConvertedVersions } from '../../../apimachinery/resource-definition.ts';
import { newStatusError, type StatusError } from '../../../apimachinery/status-error.ts';
import type { StructuralSchema } from '../../../apimachinery/structural-schema/schema.ts';
import type { RequestWork } from '../../../apiserver/transport/request-work.ts';
import type { Random } from '../../../base/random.ts';
import { CallFailure, type WebhookCall } from '../../webhooks/client.ts';
import { prunedBy, underSchema } from '../custom-kind.ts';
import { conversionReview, kindText, readConversion, reviewVersionIn, WrongConversion } from './review.ts';

/** Parts of the server that the conversion of objects needs. */
export interface ConversionCaller {
  /** Resolves to the body of a successful answer. Rejects with a CallFailure. */
  post(call: WebhookCall): Promise<string>;
  readonly random: Pick<Random, 'uuid'>;
  /** Divides the work on objects into steps. */
  newWork(): Pick<RequestWork, 'pause'>;
}

/** Timeout of a call in milliseconds, as upstream. */
const timeoutMs = 30_000;
/** Maximum bytes of an answer: a few times the largest request. */
const maxAnswerBytes = 4 * 1024 * 1024;

/** A definition, the schemas of its versions by apiVersion, and the caller of its webhook. */
interface Converting {
  readonly definition: CustomResourceDefinition;
  readonly schemas: ReadonlyMap<string, StructuralSchema>;
  readonly caller: ConversionCaller;
}

/** Returns the versions; `storage` is as in ConvertedVersions. */
export function webhookVersions(
  definition: CustomResourceDefinition,
  storage: Pick<ConvertedVersions, 'areComplete' | 'main' | 'stored'>,
  caller: ConversionCaller,
): ConvertedVersions {
  const { group, versions } = definition.spec;
  const schemas = new Map(
    versions.map(({ name, schema }) => [
      `${group}/${name}`,
      (schema?.openAPIV3Schema ?? {}) as StructuralSchema,
    ]),
  );
  const converting: Converting = { definition, schemas, caller };
  return {
    ...storage,
    async read(objects, apiVersion) {
      const work = caller.newWork();
      const complete: KubeObject[] = [];
      for (const object of objects) {
        const schema = schemas.get(object.apiVersion);
        complete.push(schema ? underSchema(object, schema) : object);
        await work.pause();
      }
      return convertAll(converting, complete, apiVersion);
    },
    async convert(object, apiVersion) {
      const [converted = object] = await convertAll(converting, [object], apiVersion);
      return converted;
    },
  };
}

/** Resolves to objects in a version. Those that are in it already are not sent to the webhook. */
async function convertAll(
  converting: Converting,
  objects: readonly KubeObject[],
  apiVersion: string,
): Promise<readonly KubeObject[]> {
  const others = objects.filter((object) => object.apiVersion !== apiVersion);
  if (others.length === 0) return objects;
  const { schemas, caller } = converting;
  const unknown = others.find((object) => !schemas.has(object.apiVersion));
  if (unknown) throw failure(`request to convert CR from an invalid group/version: ${unknown.apiVersion}`);
  const schema = schemas.get(apiVersion);
  if (!schema) throw failure(`request to convert CR to an invalid group/version: ${apiVersion}`);
  const converted = await askWebhook(converting, others, apiVersion);
  const work = caller.newWork();
  const results: KubeObject[] = [];
  let next = 0;
  for (const object of objects) {
    results.push(
      object.apiVersion === apiVersion ? object : prunedBy(converted[next++] as KubeObject, schema),
    );
    await work.pause();
  }
  return results;
}

async function askWebhook(
  { definition, caller }: Converting,
  objects: readonly KubeObject[],
  desired: string,
): Promise<readonly KubeObject[]> {
  const { clientConfig = {}, conversionReviewVersions = [] } = definition.spec.conversion?.webhook ?? {};
  const version = reviewVersionIn(conversionReviewVersions);
  if (!version) throw failure('no supported conversion review versions');
  const request = { uid: caller.random.uuid(), version, desired, objects };
  const body = conversionReview(request);
  try {
    const answer = await caller.post({ client: clientConfig, body, timeoutMs, maxAnswerBytes });
    return readConversion(answer, request);
  } catch (error) {
    if (error instanceof WrongConversion) throw failure(error.message);
    if (!(error instanceof CallFailure)) throw error;
    throw failure(`conversion webhook for ${kindText(objects[0] ?? {})} failed: ${error.message}`);
  }
}

const failure = (message: string): StatusError => newStatusError('InternalError', message);

/** Returns whether a webhook converts the objects of a definition. */
export const isWebhookConverted = ({ spec }: CustomResourceDefinition): boolean =>
  spec.conversion?.strategy === 'Webhook';
