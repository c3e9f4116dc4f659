/** Style sheets, which the build joins to one. */
declare module '*.css';
