/// The annotated configuration that `init` writes.
package let annotatedConfiguration = PackageResources.chute_toml
