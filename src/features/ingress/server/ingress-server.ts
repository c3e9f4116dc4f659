/** Ingresses on the server: their default class, warnings, and what nodes may read to serve them. */
import { type Ingress, ingressResource } from '../../../api/networking/v1/ingress.ts';
import { type IngressClass, ingressClassResource } from '../../../api/networking/v1/ingress-class.ts';
import { type ResourceDefinition, storagePrefix } from '../../../apimachinery/resource-definition.ts';
import type { AdmissionPlugin } from '../../../apiserver/admission/plugin.ts';
import { waitForNow } from '../../../apiserver/reads/freshness.ts';
import { always, type NodeCondition } from '../../../kube-apiserver/authorization/node-access.ts';
import type { KubeContext } from '../../../kube-apiserver/context.ts';
import type { ServerFeatureFactory } from '../../../kube-apiserver/server-feature.ts';
import type { IndexDeclaration } from '../../../storage/cache.ts';
import { readAnnotations } from '../api/annotations.ts';
import { classNameOf, defaultClass, isOwn, ownClasses } from '../api/classes.ts';

const { group, plural } = ingressResource;

const ingressesBySecret: IndexDeclaration = {
  name: 'Ingresses by the Secrets of their certificates',
  prefix: storagePrefix(ingressResource),
  keysOf: (object) => {
    const { metadata, spec } = object as Ingress;
    return (spec.tls ?? []).flatMap(({ secretName }) =>
      secretName ? [`${metadata.namespace}/${secretName}`] : [],
    );
  },
};

export const ingressServer: ServerFeatureFactory = (server) => {
  const classes = () =>
    server.cache.list(storagePrefix(ingressClassResource)).map(({ object }) => object as IngressClass);
  return {
    admission: [defaultIngressClass(classes), annotationWarnings(classes)],
    nodeAccess: {
      rules: [
        { group, resources: [plural, 'ingressclasses'], verbs: ['get', 'list', 'watch'], when: always },
        {
          group: '',
          resources: ['secrets'],
          verbs: ['get', 'list', 'watch'],
          when: isNamed(server, classes),
        },
      ],
    },
  };
};

/** Allows Secrets that an Ingress of this controller's classes names, one by one. */
function isNamed(server: KubeContext, classes: () => readonly IngressClass[]): NodeCondition {
  const bySecret = server.cache.index(ingressesBySecret);
  const isKnown = (key: string) => {
    const own = ownClasses(classes());
    return bySecret.get(key).some(({ object }) => isOwn(object as Ingress, own));
  };
  return async ({ namespace, name }) => {
    if (!namespace || !name) return false;
    const key = `${namespace}/${name}`;
    if (isKnown(key)) return true;
    // Another master may have stored the Ingress a moment ago.
    await waitForNow(server, new AbortController());
    return isKnown(key);
  };
}

const isIngress = (definition: ResourceDefinition) =>
  definition.group === group && definition.plural === plural;

/** Gives a new Ingress without a class the default one. */
const defaultIngressClass = (classes: () => readonly IngressClass[]): AdmissionPlugin => ({
  name: 'DefaultIngressClass',
  mutate({ operation, definition, subresource, object }) {
    if (operation !== 'create' || subresource !== '' || !isIngress(definition) || !object) return;
    const ingress = object as Ingress;
    if (classNameOf(ingress) !== undefined) return;
    const name = defaultClass(classes());
    if (name !== undefined) ingress.spec.ingressClassName = name;
  },
});

/** Warns the writer of annotations that have no effect, or of a value that is not understood. */
const annotationWarnings = (classes: () => readonly IngressClass[]): AdmissionPlugin => ({
  name: 'IngressAnnotations',
  validate({ definition, subresource, object, warn }) {
    if (!warn || !object || subresource !== '' || !isIngress(definition)) return;
    const ingress = object as Ingress;
    if (!isOwn(ingress, ownClasses(classes()))) return;
    for (const { message } of readAnnotations(ingress.metadata.annotations).problems) warn(message);
  },
});
