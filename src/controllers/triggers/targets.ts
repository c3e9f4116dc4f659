/** What a Trigger calls: whether it is there, and how an event is given to it. */

import type { Fn } from '../../api/minik8s/v1/function.ts';
import { functionResource } from '../../api/minik8s/v1/function.ts';
import type { Trigger } from '../../api/minik8s/v1/trigger.ts';
import type { TriggerEvent } from '../../api/minik8s/v1/trigger-event.ts';
import { triggerLabel } from '../../api/minik8s/v1/trigger-event-draft.ts';
import type { Kinds } from '../../apimachinery/kind-set.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import { isAlreadyExists, isInvalid, isNotFound } from '../../apimachinery/status-error.ts';
import { errorMessage } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import type { Lister } from '../../client/informer.ts';
import { eventBody, type Failure } from './delivery-plan.ts';
import type { Problem } from './status-plan.ts';

export interface FunctionCall {
  readonly namespace: string;
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Calls a function by the gateway of this master. Resolves to its status, and to the beginning of what it answered. */
export type CallFunction = (
  call: FunctionCall,
) => Promise<{ readonly status: number; readonly text: string }>;

/** Of a call that a trigger makes: how many triggers are before it in a chain of results. */
export const depthHeader = 'function-trigger-depth';

export interface TargetsOptions {
  readonly client: Client;
  readonly kinds: Kinds;
  readonly functions: Lister<Fn>;
  readonly callFunction: CallFunction;
}

const group = 'minik8s.io';

export class Targets {
  readonly #options: TargetsOptions;

  constructor(options: TargetsOptions) {
    this.#options = options;
  }

  /** Why nothing can be delivered now. */
  problemOf({ metadata: { namespace }, spec: { target } }: Trigger): Problem | undefined {
    if (target.kind === 'Workflow') {
      return this.#runs
        ? undefined
        : { reason: 'KindNotServed', message: 'spec.target.kind: this server has no workflows' };
    }
    return this.#options.functions.get(`${namespace}/${target.name}`)
      ? undefined
      : { reason: 'TargetMissing', message: missing(target.name, namespace) };
  }

  deliver(trigger: Trigger, event: TriggerEvent, signal: AbortSignal): Promise<Failure | undefined> {
    return trigger.spec.target.kind === 'Workflow'
      ? this.#run(trigger, event)
      : this.#call(trigger, event, signal);
  }

  async #call(trigger: Trigger, event: TriggerEvent, signal: AbortSignal): Promise<Failure | undefined> {
    const { client, functions, callFunction } = this.#options;
    const { namespace = '' } = trigger.metadata;
    const { name } = trigger.spec.target;
    if (!functions.get(`${namespace}/${name}`)) {
      // The cache may be behind.
      const found = await client.resource(functionResource).get(name, namespace).catch(orNothing);
      if (!found) return { error: missing(name, namespace), status: 404, isFinal: true };
    }
    const { status, text } = await callFunction({
      namespace,
      name,
      headers: {
        'content-type': 'application/cloudevents+json',
        'function-call-id': event.spec.id,
        [depthHeader]: String(event.spec.depth),
      },
      body: JSON.stringify(eventBody(trigger, event)),
      signal,
    });
    if (status >= 200 && status < 300) return undefined;
    return { error: `the function answered ${status}${text && `: ${text}`}`, status };
  }

  /** The name is the event's, so there is one run of an event, however often it is delivered. */
  async #run(trigger: Trigger, event: TriggerEvent): Promise<Failure | undefined> {
    const runs = this.#runs;
    if (!runs) return { error: 'this server has no workflows', isFinal: true };
    const { namespace, name: triggerName } = trigger.metadata;
    const draft = {
      apiVersion: `${group}/v1`,
      kind: 'WorkflowRun',
      metadata: { name: event.metadata.name, namespace, labels: { [triggerLabel]: triggerName } },
      spec: { workflow: trigger.spec.target.name, input: eventBody(trigger, event) },
    };
    try {
      await this.#options.client.resource(runs).create(draft);
      return undefined;
    } catch (error) {
      if (isAlreadyExists(error)) return undefined;
      return { error: errorMessage(error), isFinal: isInvalid(error) };
    }
  }

  get #runs(): ResourceRef | undefined {
    return this.#options.kinds.find(group, 'v1', 'workflowruns');
  }
}

const missing = (name: string, namespace = '') =>
  `there is no function ${JSON.stringify(name)} in the namespace ${JSON.stringify(namespace)}`;

const orNothing = (error: unknown) => {
  if (isNotFound(error)) return undefined;
  throw error;
};
