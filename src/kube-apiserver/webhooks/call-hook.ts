/** One call of a webhook: the request, the answer, and its failure policy. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { Patch } from '../../apimachinery/patch.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { HookedRequest } from '../admission-requests/plan/request.ts';
import type { ShownObjects } from '../admission-requests/plan/shown-objects.ts';
import { CallFailure, type WebhookClient } from './client.ts';
import { InvalidAnswer, readAnswer } from './plan/answer.ts';
import type { Invocation } from './plan/invocation.ts';
import { failedCall, noDryRun } from './plan/refusals.ts';
import { admissionReview, reviewVersionOf } from './plan/review.ts';

export interface HookCaller {
  readonly client: WebhookClient;
  readonly random: Random;
  readonly log: Logger;
}

export interface HookCall {
  readonly invocation: Invocation;
  readonly request: HookedRequest;
  readonly objects: ShownObjects;
  readonly mutates: boolean;
  readonly warn: (text: string) => void;
}

/**
 * Resolves to the patch of the webhook, if there is one. Rejects with the StatusError of a request that the
 * webhook rejects, or that fails with it; a failure is ignored if the webhook's policy says so.
 */
export async function callHook(caller: HookCaller, call: HookCall): Promise<Patch | undefined> {
  const { hook } = call.invocation;
  const { failurePolicy, sideEffects = '' } = hook.webhook;
  if (call.request.dryRun && !['None', 'NoneOnDryRun'].includes(sideEffects)) throw noDryRun(hook.name);
  try {
    return await answerOf(caller, call);
  } catch (error) {
    if (!(error instanceof CallFailure) && !(error instanceof InvalidAnswer)) throw error;
    const failure = failedCall(hook.name, reasonOf(error));
    caller.log.warn(failurePolicy === 'Ignore' ? 'webhook failed, ignored' : 'webhook failed', {
      webhook: hook.id,
      reason: failure.message,
    });
    if (failurePolicy === 'Ignore') return undefined;
    throw failure;
  }
}

const reasonOf = (error: CallFailure | InvalidAnswer) =>
  error instanceof CallFailure ? `failed to call webhook: ${error.message}` : error.message;

async function answerOf(caller: HookCaller, call: HookCall): Promise<Patch | undefined> {
  const { invocation, request, objects, mutates, warn } = call;
  const { clientConfig = {}, timeoutSeconds } = invocation.hook.webhook;
  const version = reviewVersionOf(invocation);
  if (!version) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)';
    throw new InvalidAnswer(`could not create admission objects: ${why}`);
  }
  const uid = caller.random.uuid();
  const review: JsonObject = admissionReview(invocation, request, version, uid, objects);
  const body = JSON.stringify(review);
  const text = await caller.client.post({ client: clientConfig, body, timeoutMs: timeoutSeconds * 1000 });
  return readAnswer(text, { webhook: invocation.hook.name, version, uid, mutates, warn });
}
