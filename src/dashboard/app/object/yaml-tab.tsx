/**
 * The YAML of an object: edited as text, checked by the server's dry run, shown as a difference, then saved.
 */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { may } from '../cluster/access.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { CodeField } from '../editor/code-field.tsx';
import { DiffView } from '../editor/diff-view.tsx';
import { editablePart } from '../editor/plan/edited-object.ts';
import { schemaDocument, suggestFrom } from '../editor/suggestions.ts';
import { notify } from '../shell/dialog.tsx';
import { loadYaml, type Refusal, type Reviewed, rebase, review, save, type Yaml } from './edit-steps.ts';

interface Props {
  readonly kind: ApiKind;
  readonly object: KubeObject;
}

export function YamlTab({ kind, object }: Props) {
  const yaml = useSignal<Yaml | undefined>(undefined);
  const document = useSignal<unknown>(undefined);
  useEffect(() => {
    void loadYaml().then((loaded) => {
      yaml.value = loaded;
    });
    void schemaDocument(kind).then((loaded) => {
      document.value = loaded;
    });
  }, [kind]);
  if (!yaml.value) return <p class="empty pulse">Loading…</p>;
  return <Editing kind={kind} object={object} yaml={yaml.value} document={document.value} />;
}

interface EditingProps extends Props {
  readonly yaml: Yaml;
  readonly document: unknown;
}

/** The text, the object on which it is based, and the review of the server. */
function useEdit({ kind, object, yaml }: EditingProps) {
  const hasStatus = kind.subresources.includes('status');
  const textOf = (each: KubeObject) => yaml.formatYaml(editablePart(each, hasStatus));
  const live = useMemo(() => textOf(object), [object, hasStatus]);
  const base = useSignal(object);
  const text = useSignal(live);
  const revision = useSignal(0);
  const replace = (written: string, from: KubeObject) => {
    base.value = from;
    text.value = written;
    revision.value++;
  };
  const refusal = useSignal<Refusal | undefined>(undefined);
  const reviewed = useSignal<Reviewed | undefined>(undefined);
  const before = useMemo(() => textOf(base.value), [base.value, hasStatus]);
  const isChanged = text.value !== before;
  useEffect(() => {
    // Without changes of the user, the text follows the object.
    if (isChanged || reviewed.value) return;
    replace(live, object);
  }, [live]);
  const reset = () => {
    replace(live, object);
    refusal.value = undefined;
    reviewed.value = undefined;
  };
  return { text, revision, base, refusal, reviewed, isChanged, before, live, replace, reset };
}

function Editing(props: EditingProps) {
  const { kind, object, yaml, document } = props;
  const edit = useEdit(props);
  const { text, base, refusal, reviewed, isChanged, before, live } = edit;
  const { name, namespace = '' } = object.metadata;
  const isReadOnly = !kind.verbs.includes('update') || !may('update', kind, namespace, { name });
  const context = { kind, yaml };
  const check = async () => {
    const result = await review(context, text.value, base.value);
    refusal.value = result.refusal;
    reviewed.value = result.reviewed;
  };
  const keep = async () => {
    const failed = await save(context, text.value, base.value);
    reviewed.value = undefined;
    refusal.value = failed.refusal;
    if (!failed.saved) return;
    notify(`${kind.kind} ${name} is saved.`);
    edit.replace(
      yaml.formatYaml(editablePart(failed.saved, kind.subresources.includes('status'))),
      failed.saved,
    );
  };
  if (reviewed.value) {
    return (
      <section class="editor" aria-label="Review of the changes">
        <div class="editor-bar">
          <strong>What the server would store</strong>
          <span class="grow" />
          <button
            type="button"
            onClick={() => {
              reviewed.value = undefined;
            }}
          >
            Back to the text
          </button>
          <button type="button" class="primary" onClick={() => void keep()}>
            Save
          </button>
        </div>
        {reviewed.value.warnings.map((warning) => (
          <p key={warning} class="notice">
            {warning}
          </p>
        ))}
        <DiffView before={before} after={reviewed.value.text} />
      </section>
    );
  }
  return (
    <section class="editor" aria-label="YAML">
      <Bar isReadOnly={isReadOnly} isChanged={isChanged} onReset={edit.reset} onReview={() => void check()} />
      {isChanged && live !== before && (
        <p class="notice">
          The object was changed meanwhile.{' '}
          <button
            type="button"
            onClick={() => edit.replace(rebase(context, text.value, base.value, object), object)}
          >
            Put my changes on the newer one
          </button>
        </p>
      )}
      {refusal.value && <Refused refusal={refusal.value} />}
      <CodeField
        label={`YAML of ${kind.kind} ${name}`}
        text={text.value}
        revision={edit.revision.value}
        isReadOnly={isReadOnly}
        faults={refusal.value?.faults ?? noFaults}
        onChange={(changed) => {
          text.value = changed;
        }}
        suggest={(written, offset) => suggestFrom(document, kind, written, offset)}
      />
    </section>
  );
}

const noFaults: Refusal['faults'] = [];

interface BarProps {
  readonly isReadOnly: boolean;
  readonly isChanged: boolean;
  readonly onReset: () => void;
  readonly onReview: () => void;
}

function Bar({ isReadOnly, isChanged, onReset, onReview }: BarProps) {
  if (isReadOnly) return <p class="faint">You may read this object, not change it.</p>;
  return (
    <div class="editor-bar">
      <span class="faint">{isChanged ? 'Changed, not saved' : 'Ctrl Space suggests fields'}</span>
      <span class="grow" />
      <button type="button" disabled={!isChanged} onClick={onReset}>
        Reset
      </button>
      <button type="button" class="primary" disabled={!isChanged} onClick={onReview}>
        Review changes
      </button>
    </div>
  );
}

const Refused = ({ refusal: { message, faults } }: { readonly refusal: Refusal }) => (
  <div class="notice bad" role="alert">
    {message}
    {faults.length > 1 && (
      <ul>
        {faults.map((fault) => (
          <li key={fault.message}>{fault.message}</li>
        ))}
      </ul>
    )}
  </div>
);
