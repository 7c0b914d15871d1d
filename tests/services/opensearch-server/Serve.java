import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.opensearch.Version;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.PluginInfo;

/**
 * A whole OpenSearch node whose modules lie on the class path, so that it needs no installation and runs as any account.
 * Arguments: FOLDER PORT [NAME=VALUE ...]. A module of its own is named by the property exhibit.module as NAME=CLASS.
 */
final class Serve {
    private static final class ClassPathNode extends Node {
        ClassPathNode(Environment environment, Collection<PluginInfo> modules) {
            super(environment, modules, true);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]).toAbsolutePath();
        Files.createDirectories(folder.resolve("config"));
        Settings.Builder settings = Settings.builder()
            .put("cluster.name", "exhibit-tests")
            .put("node.name", "one")
            .put("discovery.type", "single-node")
            .put("path.home", folder.toString())
            .put("path.data", folder.resolve("data").toString())
            .put("path.logs", folder.resolve("logs").toString())
            .put("network.host", "127.0.0.1")
            .put("http.port", arguments[1])
            .put("transport.port", "0")
            .put("node.processors", 2)
            .put("cluster.routing.allocation.disk.threshold_enabled", false);
        for (String pair : List.of(arguments).subList(2, arguments.length)) {
            int at = pair.indexOf('=');
            settings.put(pair.substring(0, at), pair.substring(at + 1));
        }
        Environment environment =
            InternalSettingsPreparer.prepareEnvironment(settings.build(), Map.of(), null, () -> "one");
        Node node = new ClassPathNode(environment, modules());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
        node.start();
        System.out.println("Started.");
        Thread.currentThread().join();
    }

    private static List<PluginInfo> modules() {
        List<PluginInfo> modules = new ArrayList<>();
        modules.add(module("transport-netty4", "org.opensearch.transport.Netty4ModulePlugin"));
        modules.add(module("analysis-common", "org.opensearch.analysis.common.CommonAnalysisModulePlugin", "lang-painless"));
        modules.add(module("lang-painless", "org.opensearch.painless.PainlessModulePlugin"));
        modules.add(module("reindex", "org.opensearch.index.reindex.ReindexModulePlugin"));
        String more = System.getProperty("exhibit.module");
        if (more != null) {
            modules.add(module(more.substring(0, more.indexOf('=')), more.substring(more.indexOf('=') + 1)));
        }
        return modules;
    }

    private static PluginInfo module(String name, String type, String... extended) {
        String version = Version.CURRENT.toString();
        return new PluginInfo(name, name, version, Version.CURRENT, "21", type, null, List.of(extended), false);
    }

    private static void close(Node node) {
        try {
            node.close();
        } catch (Exception error) {
            error.printStackTrace();
        }
    }
}
