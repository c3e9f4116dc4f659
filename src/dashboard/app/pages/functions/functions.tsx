/** The page of functions: what each is, and how its calls go. */
import { useEffect } from 'preact/hooks';
import type { JsonObject } from '../../../../apimachinery/equality.ts';
import { metadataOf, textAt } from '../../../../apimachinery/fields.ts';
import { serverMetrics } from '../../charts/sampler.ts';
import { seen } from '../../cluster/seen.ts';
import { objectHref } from '../../shell/plan/addresses.ts';
import { namespace } from '../../shell/scope.ts';
import { ScopeChoice } from '../../shell/scope-choice.tsx';
import type { Page } from '../page.ts';
import { CallNumbers } from './call-numbers.tsx';
import { functionState } from './plan/function-state.ts';

export const functionsKey = 'functions.minik8s.io';

function Functions() {
  useEffect(() => {
    document.title = 'Functions · minik8s';
  }, []);
  const { items, synced, refused } = seen(functionsKey, { namespace: namespace.value });
  const sorted = items.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  return (
    <div class="page">
      <div class="head">
        <h1>Functions</h1>
        <span class="count" role="status">
          {synced ? items.length : 'Loading…'}
        </span>
        <span class="grow" />
        <ScopeChoice />
      </div>
      {refused && <p class="notice bad">You may not list the functions here. Choose another namespace.</p>}
      {synced && !refused && items.length === 0 && (
        <p class="empty">
          No functions here. <code>minik8s ctl function create hello --from ./hello</code> makes one.
        </p>
      )}
      {serverMetrics.value.refused && items.length > 0 && (
        <p class="faint">You may not read /metrics, so the calls are not counted here.</p>
      )}
      <div class="cards">
        {sorted.map((object) => (
          <FunctionCard key={placeOf(object)} object={object} />
        ))}
      </div>
    </div>
  );
}

const placeOf = (object: JsonObject) => `${metadataOf(object).namespace}/${metadataOf(object).name}`;

function FunctionCard({ object }: { readonly object: JsonObject }) {
  const { namespace: of, name } = metadataOf(object);
  const { health, word, reason, ready, replicas } = functionState(object);
  return (
    <article class="panel card" aria-label={name}>
      <header>
        <h2>
          <a href={objectHref(functionsKey, of, name, 'call')}>{name}</a>
        </h2>
        <span class={`chip ${health}`}>{word}</span>
        <span class="grow" />
        <span class="faint">{of}</span>
      </header>
      <p class="faint">
        {textAt(object, 'spec', 'runtime') || textAt(object, 'spec', 'image') || 'image'},{' '}
        {replicas === 0 ? 'no instances' : `${ready} of ${replicas} instances ready`}
      </p>
      {reason !== '' && <p class="notice">{reason}</p>}
      <CallNumbers namespace={of} name={name} />
    </article>
  );
}

export const functionsPage: Page = {
  ...{ path: 'functions', title: 'Functions', group: 'Work', needs: functionsKey },
  icon: 'M10 4C7 4 8 9 8 12s1 8-3 8M5 11h8M14 13l6 7M20 13l-6 7',
  component: Functions,
};
