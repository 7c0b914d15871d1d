import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import org.openprovenance.prov.core.json.serialization.ProvSerialiser;
import org.openprovenance.prov.core.jsonld11.serialization.ProvDeserialiser;

/** Reads PROV-JSONLD with ProvToolbox and writes what it understood as PROV-JSON: `ReadJsonld.java IN OUT [IN OUT ...]`. */
public class ReadJsonld {
  public static void main(String[] files) throws Exception {
    for (int i = 0; i + 1 < files.length; i += 2) {
      try (InputStream in = new FileInputStream(files[i]); OutputStream out = new FileOutputStream(files[i + 1])) {
        new ProvSerialiser().serialiseDocument(out, new ProvDeserialiser().deserialiseDocument(in), true);
      }
    }
  }
}
