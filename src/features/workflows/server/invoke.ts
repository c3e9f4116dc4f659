/** Serves workflows/NAME/invoke: creates a run, waits for its end, and answers with its output. */
import { createHash } from 'node:crypto';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import { apiVersionOf, storageKey } from '../../../apimachinery/resource-definition.ts';
import {
  isAlreadyExists,
  newBadRequest,
  newNotFound,
  newStatusError,
} from '../../../apimachinery/status-error.ts';
import { measureJson, TextError } from '../../../apimachinery/value-limit.ts';
import { readBody } from '../../../apiserver/body/body.ts';
import type { Handler, RequestScope } from '../../../apiserver/request/request-scope.ts';
import { anonymousUser } from '../../../apiserver/request/user.ts';
import { respondJson } from '../../../apiserver/respond.ts';
import { type Workflow, workflowResource } from '../api/workflow.ts';
import { callerAnnotation, hasEnded, inputOf, maxInput, type WorkflowRun } from '../api/workflow-run.ts';
import type { RunEnds } from './run-ends.ts';
import { checkRunsOfStrangers } from './strangers-runs.ts';

/**
 * Client of runs. `create` rejects with AlreadyExists if there is a run of that name; `get` reads the stored
 * run.
 */
export interface RunClient {
  create(run: RunDraft): Promise<WorkflowRun>;
  get(namespace: string, name: string): Promise<WorkflowRun>;
}

export type RunDraft = Omit<WorkflowRun, 'metadata' | 'status'> & {
  readonly metadata: Partial<WorkflowRun['metadata']>;
};

/** Headers with the name of the run: in every answer, and as requested by the caller. */
const runHeader = 'workflow-run';
const wishedHeader = 'workflow-run-name';
/** Minimum number of characters of a name that cannot be guessed: the length of a UUID without dashes. */
const minOfStrangers = 32;
const usualSeconds = 60;
const maxSeconds = 3600;

export const invokeWorkflow =
  (ends: RunEnds, runs: RunClient): Handler =>
  async (scope) => {
    const { info, server, request } = scope;
    const { namespace, name } = info;
    const workflow = workflowOf(scope);
    const timeout = timeoutOf(scope) * 1000;
    const input = await inputOfRequest(scope);
    if (scope.user.name === anonymousUser) checkRunsOfStrangers(server.cache, namespace, name);
    const run = await begin(scope, runs, workflow, input);
    if (hasEnded(run)) return answerOf(run);
    const ended = isAsync(request) ? undefined : await ends.of(run, timeout, scope.signal);
    return ended ? answerOf(ended) : goesOn(run);
  };

/** Returns the workflow of the request. Throws a StatusError if there is none, or it is terminating. */
function workflowOf({ info: { namespace, name }, server }: Scope): Workflow {
  const found = server.cache.get(storageKey(workflowResource, namespace, name))?.object;
  const workflow = found as Workflow | undefined;
  if (!workflow || isTerminating(workflow)) throw newNotFound(workflowResource, name);
  return workflow;
}

type Scope = Parameters<Handler>[0];

/** Returns true if the client prefers an answer before the run ends (RFC 7240). */
const isAsync = ({ headers }: Request) =>
  /(^|[\s,;])respond-async($|[\s,;=])/i.test(headers.get('prefer') ?? '');

function timeoutOf({ query }: RequestScope): number {
  const text = query.get('timeoutSeconds');
  if (text === null) return usualSeconds;
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= 0 && seconds <= maxSeconds) return seconds;
  throw newBadRequest(`timeoutSeconds must be a number from 0 to ${maxSeconds}, not ${text.slice(0, 100)}`);
}

async function inputOfRequest(scope: RequestScope): Promise<unknown> {
  const bytes = await readBody(scope);
  if (bytes.length > maxInput) {
    throw newStatusError(
      'RequestEntityTooLarge',
      `the input of a run may not be more than ${maxInput} bytes`,
    );
  }
  if (bytes.length === 0) return {};
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    measureJson(text);
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof TextError || error instanceof SyntaxError || error instanceof TypeError)
      throw newBadRequest(`the input of a run must be JSON: ${error.message}`);
    throw error;
  }
}

/**
 * Returns the requested name of the run; undefined if there is none. All anonymous callers are one user, so a
 * name that one of them requests is treated as a secret: the run is named by a digest of it, from which
 * others cannot derive the requested name.
 */
function nameFor({ request, user }: RequestScope, { name, uid }: Workflow['metadata']): string | undefined {
  const wished = request.headers.get(wishedHeader) ?? undefined;
  if (wished === undefined || user.name !== anonymousUser) return wished;
  if (wished.length < minOfStrangers)
    throw newBadRequest(
      `without credentials, Workflow-Run-Name must be impossible to guess: at least ${minOfStrangers} characters, such as a UUID`,
    );
  const digest = createHash('sha256').update(`${uid} ${wished}`).digest('hex');
  return `${name}-${digest.slice(0, 32)}`;
}

/**
 * Creates a run, or returns the caller's own run of the requested name. The run of another caller is never
 * returned, so that a guessed name does not reveal its output.
 */
async function begin(
  scope: RequestScope,
  runs: RunClient,
  { metadata }: Workflow,
  input: unknown,
): Promise<WorkflowRun> {
  const { server, user } = scope;
  const { name: workflow, namespace = '', uid } = metadata;
  const wished = nameFor(scope, metadata);
  const name = wished ?? `${workflow}-${server.random.uuid().replaceAll('-', '').slice(0, 10)}`;
  const owner = {
    apiVersion: apiVersionOf(workflowResource),
    kind: workflowResource.kind,
    name: workflow,
    uid,
  };
  const annotations = { [callerAnnotation]: user.name };
  try {
    return await runs.create({
      apiVersion: 'minik8s.io/v1',
      kind: 'WorkflowRun',
      metadata: { name, namespace, annotations, ownerReferences: [owner] },
      spec: { workflow, input },
    });
  } catch (error) {
    if (wished === undefined || !isAlreadyExists(error)) throw error;
    const there = await runs.get(namespace, name);
    const isSame = there.spec.workflow === workflow && deepEqual(inputOf(there), input);
    if (isSame && there.metadata.annotations?.[callerAnnotation] === user.name) return there;
    throw newStatusError(
      'Conflict',
      `there is a run ${name} already, of another caller or workflow, or with another input`,
    );
  }
}

function answerOf({ metadata, status = {} }: WorkflowRun): Response {
  const headers = { [runHeader]: metadata.name };
  const { phase, output = null, error = '', cause = '' } = status;
  return phase === 'Succeeded'
    ? respondJson(200, JSON.stringify(output), headers)
    : respondJson(500, { error: error || phase, cause }, headers);
}

const goesOn = ({ metadata: { name, namespace } }: WorkflowRun): Response =>
  respondJson(
    202,
    { run: name, namespace },
    { [runHeader]: name, location: `/apis/minik8s.io/v1/namespaces/${namespace}/workflowruns/${name}` },
  );
