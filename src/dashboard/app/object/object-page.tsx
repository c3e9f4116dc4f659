/** The page of one object: its state, its tabs and its actions. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { errorMessage } from '../../../base/log.ts';
import { objectPath } from '../../../client/resource-path.ts';
import { actionsOn } from '../actions/index.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { requestJson } from '../cluster/request.ts';
import { watchAll } from '../cluster/watch.ts';
import { orNotify } from '../shell/dialog.tsx';
import { kindHref, objectHref } from '../shell/plan/addresses.ts';
import { titleOf } from '../shell/plan/kind-groups.ts';
import { tabs } from './tabs.ts';

interface Props {
  readonly kind: ApiKind;
  readonly namespace: string;
  readonly name: string;
  readonly tab: string;
}

export function ObjectPage({ kind, namespace, name, tab }: Props) {
  const { object, problem } = useObject(kind, namespace, name);
  useEffect(() => {
    document.title = `${name} · ${kind.kind} · minik8s`;
  }, [kind, name]);
  if (!object) return <Missing kind={kind} name={name} problem={problem} />;
  const shown = tabs.filter(({ applies }) => applies === undefined || applies(kind, object));
  const current = shown.find(({ path }) => path === tab) ?? shown[0];
  return (
    <div class="page object-page">
      <ObjectHead kind={kind} object={object} />
      {problem !== undefined && <p class="notice">{problem}</p>}
      <nav class="tabs" aria-label={`Parts of ${name}`}>
        {shown.map(({ path, title }) => (
          <a
            key={path}
            href={objectHref(kind.key, namespace, name, path)}
            aria-current={path === current?.path ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {current && <current.component kind={kind} object={object} />}
    </div>
  );
}

/** Returns the live object, or why there is none; an object that the user may not watch is read once. */
function useObject(kind: ApiKind, namespace: string, name: string) {
  const live = useMemo(
    () => watchAll(kind, { namespace, fields: `metadata.name=${name}` }),
    [kind, namespace, name],
  );
  const once = useSignal<KubeObject | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const { items, synced, error, refused } = live.value;
  useEffect(() => {
    if (!refused) return;
    requestJson<KubeObject>(objectPath(kind, name, namespace)).then(
      (object) => {
        once.value = object;
      },
      (reason) => {
        failure.value = errorMessage(reason);
      },
    );
  }, [refused, kind, namespace, name]);
  const object = items[0] ?? once.value;
  const missing = synced && !refused && !object ? `There is no ${kind.kind} ${name} any more.` : undefined;
  return { object, problem: failure.value ?? missing ?? (refused ? undefined : error) };
}

function Missing({ kind, name, problem }: { kind: ApiKind; name: string; problem: string | undefined }) {
  return (
    <div class="page">
      <p class="faint">
        <a href={kindHref(kind.key)}>{titleOf(kind)}</a>
      </p>
      <h1>{name}</h1>
      <p class={problem === undefined ? 'empty pulse' : 'empty'} role="status">
        {problem ?? 'Loading…'}
      </p>
    </div>
  );
}

function ObjectHead({ kind, object }: { readonly kind: ApiKind; readonly object: KubeObject }) {
  const { name, namespace, deletionTimestamp } = object.metadata;
  return (
    <div class="head">
      <div class="object-title">
        <p class="faint">
          <a href={kindHref(kind.key)}>{titleOf(kind)}</a>
          {namespace !== undefined && (
            <>
              {' in '}
              <a href={objectHref('namespaces', '', namespace)}>{namespace}</a>
            </>
          )}
        </p>
        <h1>{name}</h1>
      </div>
      {deletionTimestamp !== undefined && <span class="chip waiting">Being deleted</span>}
      <span class="grow" />
      {actionsOn(kind, object).map((action) => (
        <button
          key={action.title}
          type="button"
          class={action.isDangerous ? 'danger' : undefined}
          onClick={() => void orNotify(() => action.run(kind, object))}
        >
          {action.title}
        </button>
      ))}
    </div>
  );
}
