/* Search in the navigation of each page; searchIndex is in search-index.js, MiniSearch in minisearch.js. */
const search = MiniSearch.loadJS(searchIndex.index, searchIndex.options);
const field = document.querySelector('input[type=search]');
const found = document.querySelector('.found');
const { root } = document.body.dataset;

field.addEventListener('input', () => {
  const results = search.search(field.value, { prefix: true, boost: { title: 3 } }).slice(0, 12);
  found.hidden = results.length === 0;
  found.replaceChildren(
    ...results.map(({ title, page, href }) => {
      const item = document.createElement('li');
      const link = document.createElement('a');
      link.href = root + href;
      link.textContent = title === page ? title : `${title} (${page})`;
      item.append(link);
      return item;
    }),
  );
});
