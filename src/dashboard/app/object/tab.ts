/** A tab of an object's page; the list of all is in tabs.ts. */
import type { FunctionComponent } from 'preact';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';

export interface TabProps {
  readonly kind: ApiKind;
  readonly object: KubeObject;
}

export interface ObjectTab {
  /** Last segment of the address; empty for the first tab. */
  readonly path: string;
  readonly title: string;
  /** True if the tab makes sense for objects of the kind and the user may see it; absent for every kind. */
  readonly applies?: (kind: ApiKind, object: KubeObject) => boolean;
  readonly component: FunctionComponent<TabProps>;
}
