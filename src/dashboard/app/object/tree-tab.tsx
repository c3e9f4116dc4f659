/** The owners of an object and everything that it owns. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { type Owned, ownedOf, ownersOf, type TreeNode, treeBelow } from '../cluster/plan/owner-tree.ts';
import { type Survey, survey } from '../cluster/survey.ts';
import { objectHref } from '../shell/plan/addresses.ts';

interface Props {
  readonly kind: ApiKind;
  readonly object: KubeObject;
}

export function TreeTab({ kind, object }: Props) {
  const found = useSignal<Survey | undefined>(undefined);
  const { uid, namespace, resourceVersion } = object.metadata;
  useEffect(() => {
    let isCurrent = true;
    void survey(namespace ?? '').then((result) => {
      if (isCurrent) found.value = result;
    });
    return () => {
      isCurrent = false;
    };
  }, [uid, namespace, resourceVersion]);
  const known = found.value;
  if (!known) return <p class="faint pulse">Looking for owners and what is owned…</p>;
  const root = ownedOf(kind.key, object);
  const chain = ownersOf(root, known.objects);
  const tree = treeBelow(root, known.objects);
  const whole = chain.reduceRight<TreeNode>((node, owner) => ({ object: owner, children: [node] }), tree);
  return (
    <section class="panel" aria-label="Owners and what they own">
      <ul class="tree">
        <Node node={whole} current={uid} />
      </ul>
      {chain.length === 0 && tree.children.length === 0 && (
        <p class="faint">Nothing owns this object, and it owns nothing.</p>
      )}
      {known.unread.length > 0 && (
        <p class="faint">Objects of {known.unread.length} kinds, which you may not list, are not shown.</p>
      )}
    </section>
  );
}

const hrefOf = ({ key, metadata }: Owned) => objectHref(key, metadata.namespace ?? '', metadata.name);

function Node({
  node: { object, children },
  current,
}: {
  readonly node: TreeNode;
  readonly current: string;
}) {
  const { kind, metadata } = object;
  return (
    <li>
      <span class="faint">{kind}</span>{' '}
      {metadata.uid === current ? (
        <strong>{metadata.name}</strong>
      ) : (
        <a href={hrefOf(object)}>{metadata.name}</a>
      )}
      {metadata.deletionTimestamp !== undefined && <span class="chip waiting">Being deleted</span>}
      {children.length > 0 && (
        <ul>
          {children.map((child) => (
            <Node key={child.object.metadata.uid} node={child} current={current} />
          ))}
        </ul>
      )}
    </li>
  );
}
