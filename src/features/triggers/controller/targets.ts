/** Targets of a Trigger: checks that the target exists, and delivers events to it. */

import type { Draft } from '../../../apimachinery/meta.ts';
import { isAlreadyExists, isInvalid, isNotFound } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';
import type { Client } from '../../../client/client.ts';
import type { Lister } from '../../../client/informer.ts';
import type { Fn } from '../../functions/api/function.ts';
import { functionResource } from '../../functions/api/function.ts';
import { type Workflow, workflowResource } from '../../workflows/api/workflow.ts';
import { type WorkflowRun, workflowRunResource } from '../../workflows/api/workflow-run.ts';
import type { Trigger } from '../api/trigger.ts';
import { chainAnnotations, chainHeader, chainText } from '../api/trigger-chain.ts';
import { depthHeader, retriedHeader, type TriggerEvent } from '../api/trigger-event.ts';
import { triggerLabel } from '../api/trigger-event-draft.ts';
import { chainAfter, eventBody, type Failure, isLastAttempt } from './delivery-plan.ts';
import type { Problem } from './status-plan.ts';

export interface FunctionCall {
  readonly namespace: string;
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/**
 * Calls a function through the gateway of this master. Resolves to the HTTP status and the beginning of the
 * answer.
 */
export type CallFunction = (
  call: FunctionCall,
) => Promise<{ readonly status: number; readonly text: string }>;

export interface TargetsOptions {
  readonly client: Client;
  readonly functions: Lister<Fn>;
  readonly workflows: Lister<Workflow>;
  readonly callFunction: CallFunction;
}

export class Targets {
  readonly #options: TargetsOptions;

  constructor(options: TargetsOptions) {
    this.#options = options;
  }

  /** Returns the reason why nothing can be delivered now, or undefined. */
  problemOf({ metadata: { namespace }, spec: { target } }: Trigger): Problem | undefined {
    const { functions, workflows } = this.#options;
    const found = (target.kind === 'Workflow' ? workflows : functions).get(`${namespace}/${target.name}`);
    return found ? undefined : { reason: 'TargetMissing', message: missing(target, namespace) };
  }

  deliver(trigger: Trigger, event: TriggerEvent, signal: AbortSignal): Promise<Failure | undefined> {
    return trigger.spec.target.kind === 'Workflow'
      ? this.#run(trigger, event)
      : this.#call(trigger, event, signal);
  }

  async #call(trigger: Trigger, event: TriggerEvent, signal: AbortSignal): Promise<Failure | undefined> {
    const { client, functions, callFunction } = this.#options;
    const { namespace = '' } = trigger.metadata;
    const { target } = trigger.spec;
    const { name } = target;
    if (!functions.get(`${namespace}/${name}`)) {
      // The cache may be behind.
      const found = await client.resource(functionResource).get(name, namespace).catch(orNothing);
      if (!found) return { error: missing(target, namespace), status: 404, isFinal: true };
    }
    const { status, text } = await callFunction({
      namespace,
      name,
      headers: {
        'content-type': 'application/cloudevents+json',
        'function-call-id': event.spec.id,
        [depthHeader]: String(event.spec.depth),
        [chainHeader]: chainText(chainAfter(trigger, event)),
        ...(!isLastAttempt(trigger, event) && { [retriedHeader]: 'true' }),
      },
      body: JSON.stringify(eventBody(trigger, event)),
      signal,
    });
    if (status >= 200 && status < 300) return undefined;
    return { error: `the function answered ${status}${text && `: ${text}`}`, status };
  }

  /** Starts a run with the name of the event, so that an event has one run, however often it is delivered. */
  async #run(trigger: Trigger, event: TriggerEvent): Promise<Failure | undefined> {
    const { client, workflows } = this.#options;
    const { namespace = '', name: triggerName } = trigger.metadata;
    const { target } = trigger.spec;
    if (!workflows.get(`${namespace}/${target.name}`)) {
      const found = await client.resource(workflowResource).get(target.name, namespace).catch(orNothing);
      if (!found) return { error: missing(target, namespace), status: 404, isFinal: true };
    }
    const draft: Draft<WorkflowRun> = {
      apiVersion: 'minik8s.io/v1',
      kind: 'WorkflowRun',
      metadata: {
        name: event.metadata.name,
        namespace,
        labels: { [triggerLabel]: triggerName },
        annotations: chainAnnotations(chainAfter(trigger, event)),
      },
      spec: { workflow: target.name, input: eventBody(trigger, event) },
    };
    try {
      await client.resource(workflowRunResource).create(draft);
      return undefined;
    } catch (error) {
      if (isAlreadyExists(error)) return undefined;
      return { error: errorMessage(error), isFinal: isInvalid(error) };
    }
  }
}

const missing = ({ kind, name }: Trigger['spec']['target'], namespace = '') =>
  `there is no ${kind.toLowerCase()} ${JSON.stringify(name)} in the namespace ${JSON.stringify(namespace)}`;

const orNothing = (error: unknown) => {
  if (isNotFound(error)) return undefined;
  throw error;
};
