/** Creates objects of any kinds from YAML: all are checked by the server before one is created. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { KubeObject } from '../../../../apimachinery/meta.ts';
import { StatusError } from '../../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../../base/log.ts';
import { kinds, kindsByKey } from '../../cluster/kinds.ts';
import { sendJson } from '../../cluster/request.ts';
import { CodeField } from '../../editor/code-field.tsx';
import type { Fault } from '../../editor/editor.ts';
import { loadYaml } from '../../object/edit-steps.ts';
import { ButtonRow } from '../../shell/button-row.tsx';
import { notify } from '../../shell/dialog.tsx';
import { objectHref } from '../../shell/plan/addresses.ts';
import { place } from '../../shell/router.ts';
import { namespace } from '../../shell/scope.ts';
import { ScopeChoice } from '../../shell/scope-choice.tsx';
import type { Page } from '../page.ts';
import { type Creation, creationsOf, mayComeLater } from './plan/creations.ts';

interface Outcome {
  readonly creation: Creation;
  readonly state: 'refused' | 'later' | 'checked' | 'created';
  /** Why it is refused, or a remark. */
  readonly text: string;
  /** Name that the server gave. */
  readonly name: string;
}

const noFaults: readonly Fault[] = [];

/** Returns the beginning of an object of the kind that the address names. */
function beginning(): string {
  const kind = kindsByKey.peek().get(place.peek().query.get('kind') ?? '');
  if (!kind) return '';
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  return `apiVersion: ${apiVersion}\nkind: ${kind.kind}\nmetadata:\n  name: \n`;
}

async function readCreations(text: string): Promise<readonly Creation[]> {
  const { parseYamlStream } = await loadYaml();
  const documents = parseYamlStream(text).map(({ value }) => value);
  if (documents.length === 0) throw new Error('There is no object in the text.');
  return creationsOf(documents, { kinds: kinds.value, namespace: namespace.value || 'default' });
}

/** Sends one object; with `isTrial` the server stores nothing. */
async function send(creation: Creation, isTrial: boolean, earlier: readonly Creation[]): Promise<Outcome> {
  const { path, object, problem } = creation;
  if (problem !== undefined) return { creation, state: 'refused', text: problem, name: '' };
  try {
    const query = `fieldManager=dashboard&fieldValidation=Strict${isTrial ? '&dryRun=All' : ''}`;
    const made = await sendJson<KubeObject>('POST', `${path}?${query}`, object);
    return { creation, state: isTrial ? 'checked' : 'created', text: '', name: made.metadata.name };
  } catch (error) {
    const code = error instanceof StatusError ? error.status.code : 0;
    if (isTrial && mayComeLater(creation, earlier, code))
      return { creation, state: 'later', text: 'is checked when its namespace exists', name: '' };
    return { creation, state: 'refused', text: errorMessage(error), name: '' };
  }
}

/** Sends the objects one after the other; a creation ends at the first refusal. */
async function sendAll(
  creations: readonly Creation[],
  isTrial: boolean,
  report: (outcomes: readonly Outcome[]) => void,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [index, creation] of creations.entries()) {
    const outcome = await send(creation, isTrial, creations.slice(0, index));
    outcomes.push(outcome);
    report([...outcomes]);
    if (!isTrial && outcome.state === 'refused') break;
  }
  return outcomes;
}

function Create() {
  const text = useSignal(beginning());
  const outcomes = useSignal<readonly Outcome[]>([]);
  const failure = useSignal('');
  const isBusy = useSignal(false);
  useEffect(() => {
    document.title = 'Create · minik8s';
  }, []);
  const report = (found: readonly Outcome[]) => {
    outcomes.value = found;
  };
  const run = async (isTrial: boolean) => {
    isBusy.value = true;
    failure.value = '';
    try {
      const done = await sendAll(await readCreations(text.value), isTrial, report);
      const created = done.filter(({ state }) => state === 'created').length;
      if (created > 0) notify(`${created} ${created === 1 ? 'object is' : 'objects are'} created.`);
    } catch (error) {
      failure.value = errorMessage(error);
      outcomes.value = [];
    } finally {
      isBusy.value = false;
    }
  };
  const isChecked =
    outcomes.value.length > 0 &&
    outcomes.value.every(({ state }) => state === 'checked' || state === 'later');
  return (
    <div class="page">
      <div class="head">
        <h1>Create</h1>
        <span class="faint">Objects of any kind, separated by ---</span>
        <span class="grow" />
        <ScopeChoice />
      </div>
      {failure.value !== '' && (
        <p class="notice bad" role="alert">
          {failure}
        </p>
      )}
      <Outcomes outcomes={outcomes.value} />
      <CodeField
        label="YAML of the objects"
        text={text.value}
        revision={0}
        isReadOnly={false}
        faults={noFaults}
        onChange={(written) => {
          text.value = written;
          outcomes.value = [];
        }}
        suggest={() => undefined}
      />
      <ButtonRow>
        <button type="button" disabled={isBusy.value} onClick={() => void run(true)}>
          Check
        </button>
        <button
          type="button"
          class="primary"
          disabled={isBusy.value || !isChecked}
          title={isChecked ? undefined : 'Check first: the server reports what it would refuse'}
          onClick={() => void run(false)}
        >
          Create
        </button>
      </ButtonRow>
    </div>
  );
}

const looks = {
  refused: ['bad', 'refused'],
  later: ['waiting', 'later'],
  checked: ['good', 'can be created'],
  created: ['good', 'created'],
} as const;

const Outcomes = ({ outcomes }: { readonly outcomes: readonly Outcome[] }) => (
  <ul class="outcomes" aria-label="Answers of the server" aria-live="polite">
    {outcomes.map(({ creation: { kind, title, namespace: of }, state, text, name }, index) => {
      const [health, word] = looks[state];
      return (
        <li key={index}>
          <span class={`chip ${health}`}>{word}</span>{' '}
          {state === 'created' && kind ? <a href={objectHref(kind.key, of, name)}>{title}</a> : title}{' '}
          <span class="faint">{[of, text].filter(Boolean).join(': ')}</span>
        </li>
      );
    })}
  </ul>
);

export const createPage: Page = {
  ...{ path: 'create', title: 'Create', group: 'Applications' },
  icon: 'M12 5v14M5 12h14',
  component: Create,
};
