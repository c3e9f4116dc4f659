/** Call of a workflow: the run that it creates, its timeout, and its answer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storageKey } from '../../../../../src/apimachinery/resource-definition.ts';
import { newAlreadyExists, newForbidden, StatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { RequestScope } from '../../../../../src/apiserver/request/request-scope.ts';
import { workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import {
  maxInput,
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import { invokeWorkflow, type RunDraft } from '../../../../../src/features/workflows/server/invoke.ts';
import type { RunEnds } from '../../../../../src/features/workflows/server/run-ends.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { meta } from '../../../controllers/objects.ts';

type GivenBody = ConstructorParameters<typeof Response>[0];

interface Shape {
  readonly user?: string;
  readonly headers?: Record<string, string>;
  readonly body?: GivenBody;
  readonly query?: string;
  /**
   * Status of the run after its creation, and after the wait for its end; undefined for a run in progress.
   */
  readonly begun?: object;
  readonly ended?: object;
  readonly isThere?: boolean;
  readonly createFault?: Error;
  readonly run?: WorkflowRun;
}

const seed = () => new SeededRandom(1);

/** Calls the workflow `w` of the namespace `shop`. */
async function invoke({ user = 'alice', headers = {}, body = '{"a":1}', query = '', ...shape }: Shape = {}) {
  const { begun, ended, isThere = true, createFault, run } = shape;
  const drafts: RunDraft[] = [];
  const waits: number[] = [];
  const signal = new AbortController().signal;
  const key = storageKey(workflowResource, 'shop', 'w');
  const scope = {
    info: { namespace: 'shop', name: 'w' },
    request: new Request('http://x/', { method: 'POST', headers, body, duplex: 'half' } as RequestInit),
    query: new URLSearchParams(query),
    server: {
      clock: new FakeClock(),
      random: seed(),
      cache: {
        get: (wanted: string) =>
          wanted === key && isThere
            ? { object: { metadata: meta('w', { namespace: 'shop' }), spec: {} } }
            : undefined,
        index: () => ({ get: () => [] }),
      },
    },
    user: { name: user, groups: [] },
    signal,
  } as unknown as RequestScope;
  const handler = invokeWorkflow(
    {
      of: async (of: WorkflowRun, ms: number, given: AbortSignal) => {
        assert.equal(given, signal);
        waits.push(ms);
        return ended && { ...of, status: ended };
      },
    } as unknown as RunEnds,
    {
      create: async (draft) => {
        drafts.push(draft);
        if (createFault) throw createFault;
        return { ...draft, ...(begun && { status: begun }) } as WorkflowRun;
      },
      get: async (namespace, name) => {
        assert.deepEqual([namespace, name], ['shop', headers['workflow-run-name']]);
        return run ?? assert.fail('there is none');
      },
    },
  );
  const answer = await Promise.resolve(handler(scope)).catch((error: unknown) => error);
  if (!(answer instanceof Response)) {
    assert.ok(answer instanceof StatusError, String(answer));
    return { drafts, waits, status: answer.status.code, message: answer.message, error: answer };
  }
  const text = await new Response(answer.body).text();
  return { drafts, waits, status: answer.status, body: JSON.parse(text) as unknown, headers: answer.headers };
}

describe('a call of a workflow', () => {
  it('creates a run of its own name that the workflow owns, with the input and the caller', async () => {
    const { drafts } = await invoke();
    const digits = seed().uuid().replaceAll('-', '').slice(0, 10);
    assert.match(digits, /^[0-9a-f]{10}$/);
    assert.deepEqual(drafts, [
      {
        ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun' },
        metadata: {
          ...{ name: `w-${digits}`, namespace: 'shop', annotations: { 'minik8s.io/called-by': 'alice' } },
          ownerReferences: [{ apiVersion: 'minik8s.io/v1', kind: 'Workflow', name: 'w', uid: 'uid-w' }],
        },
        spec: { workflow: 'w', input: { a: 1 } },
      },
    ]);
  });
  it('is answered with the output, or null, and with the name of the run', async () => {
    for (const [output, wanted] of [
      [[1], [1]],
      [undefined, null],
    ] as const) {
      const { status, body, headers, drafts } = await invoke({ ended: { phase: 'Succeeded', output } });
      assert.deepEqual([status, body], [200, wanted]);
      assert.equal(headers?.get('workflow-run'), drafts[0]?.metadata.name);
      assert.match(headers?.get('content-type') ?? '', /^application\/json/);
    }
  });
  it('is answered with error and cause, or else with the phase of the run', async () => {
    for (const [ended, wanted] of [
      [
        { phase: 'Failed', error: 'E', cause: 'why' },
        { error: 'E', cause: 'why' },
      ],
      [{ phase: 'TimedOut' }, { error: 'TimedOut', cause: '' }],
      [
        { phase: 'Aborted', error: '', cause: 'enough' },
        { error: 'Aborted', cause: 'enough' },
      ],
    ] as const) {
      const { status, body, headers, drafts } = await invoke({ ended });
      assert.deepEqual([status, body], [500, wanted]);
      assert.equal(headers?.get('workflow-run'), drafts[0]?.metadata.name);
    }
  });
  it("is answered with the run's path if the run has not ended", async () => {
    const { status, body, headers, drafts } = await invoke();
    const name = drafts[0]?.metadata.name;
    assert.deepEqual([status, body], [202, { run: name, namespace: 'shop' }]);
    assert.equal(headers?.get('workflow-run'), name);
    assert.equal(headers?.get('location'), `/apis/minik8s.io/v1/namespaces/shop/workflowruns/${name}`);
  });
  it('creates nothing if the workflow does not exist', async () => {
    const { status, message, drafts } = await invoke({ isThere: false });
    assert.deepEqual([status, drafts], [404, []]);
    assert.match(message ?? '', /workflows.minik8s.io "w" not found/);
  });
  it('without the right to create a run is rejected as by the API', async () => {
    const refused = newForbidden(workflowRunResource, 'x', 'exceeded quota');
    assert.equal((await invoke({ createFault: refused })).error, refused);
    const there = newAlreadyExists(workflowRunResource, 'x');
    assert.equal((await invoke({ createFault: there })).error, there, 'its name was drawn by lot');
    const headers = { 'workflow-run-name': 'mine' };
    assert.equal((await invoke({ createFault: refused, headers })).error, refused);
  });
});

describe('the timeout of a call', () => {
  for (const [query, ms] of [
    ['', 60_000],
    ['timeoutSeconds=0', 0],
    ['timeoutSeconds=0.5', 500],
    ['timeoutSeconds=3600', 3_600_000],
  ] as const)
    it(`is ${ms} ms with ?${query}`, async () => {
      const { waits, status } = await invoke({ query });
      assert.deepEqual([waits, status], [[ms], 202]);
    });
  for (const query of [
    'timeoutSeconds=-1',
    'timeoutSeconds=3601',
    'timeoutSeconds=',
    'timeoutSeconds=%20',
    'timeoutSeconds=x',
  ])
    it(`cannot be ?${query}, and no run is created`, async () => {
      const { status, drafts, message } = await invoke({ query });
      assert.deepEqual([status, drafts], [400, []]);
      assert.match(message ?? '', /^timeoutSeconds must be a number from 0 to 3600, not /);
    });
  it('is quoted in the error, with at most a hundred characters', async () => {
    const { message = '' } = await invoke({ query: `timeoutSeconds=${'9'.repeat(500)}` });
    assert.ok(message.endsWith(` not ${'9'.repeat(100)}`), message);
  });
  it('is zero if the client prefers an answer at once', async () => {
    for (const prefer of [
      ...[
        'respond-async',
        'Respond-Async',
        'wait=5, respond-async',
        'respond-async; wait=5',
        'a;respond-async,b',
      ],
      'respond-async=1',
    ]) {
      const { waits, status } = await invoke({ headers: { prefer }, ended: { phase: 'Succeeded' } });
      assert.deepEqual([waits, status], [[], 202], prefer);
    }
    for (const prefer of ['no-respond-async', 'respond-asynchronously', 'return=minimal']) {
      const { waits } = await invoke({ headers: { prefer }, ended: { phase: 'Succeeded' } });
      assert.equal(waits.length, 1, prefer);
    }
  });
  it('is zero if the run has ended already, for any preference', async () => {
    const headers = { prefer: 'respond-async' };
    const { waits, status, body } = await invoke({ headers, begun: { phase: 'Succeeded', output: 7 } });
    assert.deepEqual([waits, status, body], [[], 200, 7]);
  });
});

describe('the input of a call', () => {
  const inputOf = async (body: GivenBody) => (await invoke({ body })).drafts[0]?.spec.input;
  it('is its body as JSON, and an empty object without one', async () => {
    assert.deepEqual(await inputOf('[1,"ü"]'), [1, 'ü']);
    assert.equal(await inputOf('null'), null);
    assert.deepEqual(await inputOf(null), {});
    assert.deepEqual(await inputOf(''), {});
  });
  it('is refused if it is not JSON, not UTF-8, or has too many values', async () => {
    for (const body of ['{', 'x', new Uint8Array([0x22, 0xff, 0x22])]) {
      const { status, message, drafts } = await invoke({ body });
      assert.deepEqual([status, drafts], [400, []]);
      assert.match(message ?? '', /^the input of a run must be JSON: /);
    }
    const { status, drafts } = await invoke({ body: `[${'0,'.repeat(40_000)}0]` });
    assert.deepEqual([status, drafts], [413, []]);
  });
  it('may be at most as large as the input of a run', async () => {
    const text = (length: number) => `"${'x'.repeat(length - 2)}"`;
    assert.equal((await invoke({ body: text(maxInput) })).status, 202);
    const { status, message, drafts } = await invoke({ body: text(maxInput + 1) });
    assert.deepEqual([status, drafts], [413, []]);
    assert.equal(message, `the input of a run may not be more than ${maxInput} bytes`);
  });
});

describe('a name that the caller requests', () => {
  const stranger = 'system:anonymous';
  it('is the name of the run', async () => {
    const { drafts } = await invoke({ headers: { 'workflow-run-name': 'mine' } });
    assert.equal(drafts[0]?.metadata.name, 'mine');
  });
  it('is not required from an anonymous caller, whose run gets a random name', async () => {
    const { drafts } = await invoke({ user: stranger });
    assert.match(drafts[0]?.metadata.name ?? '', /^w-[0-9a-f]{10}$/);
    assert.deepEqual(drafts[0]?.metadata.annotations, { 'minik8s.io/called-by': stranger });
  });
  it('has at least 32 characters if an anonymous caller chose it', async () => {
    const named = (length: number) =>
      invoke({ user: stranger, headers: { 'workflow-run-name': 'x'.repeat(length) } });
    const { status, message, drafts } = await named(31);
    assert.deepEqual([status, drafts], [400, []]);
    assert.match(message ?? '', /^without credentials, Workflow-Run-Name .* at least 32 characters/);
    assert.match((await named(32)).drafts[0]?.metadata.name ?? '', /^w-[0-9a-f]{32}$/);
  });
  it('of an existing run waits for the run if it is running, and creates no new run', async () => {
    const run = {
      metadata: meta('mine', { annotations: { 'minik8s.io/called-by': 'alice' } }),
      ...{ spec: { workflow: 'w', input: { a: 1 } }, status: { phase: 'Running' } },
    } as unknown as WorkflowRun;
    const headers = { 'workflow-run-name': 'mine' };
    const createFault = newAlreadyExists(workflowRunResource, 'mine');
    const { drafts, waits, status, body } = await invoke({
      ...{ headers, run, createFault },
      ended: { phase: 'Succeeded', output: 1 },
    });
    assert.deepEqual([drafts.length, waits, status, body], [1, [60_000], 200, 1]);
    const other = { ...run, metadata: meta('mine') } as WorkflowRun;
    const { status: refused, message } = await invoke({ headers, run: other, createFault });
    assert.equal(refused, 409);
    assert.equal(
      message,
      'there is a run mine already, of another caller or workflow, or with another input',
    );
  });
});
